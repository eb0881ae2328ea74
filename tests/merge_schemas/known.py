"""Failures of the fixed seeds that are known, and why. Empty is best: what is mended is taken out."""

# seed: (checks that fail, reason)
KNOWN = {
    626: (("lost", "not back", "not the same"), "rows that triggers write are lost"),
    191: (("collision that is not planned", "raw error"), "collisions are misjudged"),
    265: (("collision that is not planned", "raw error"), "collisions are misjudged"),
    45: (("collision that is not planned", "raw error"), "collisions are misjudged"),
    552: (("collision that is not planned", "raw error"), "collisions are misjudged"),
    34: (("collision that is not planned", "not taken back", "order without a number", "raw error", "wrong in the table of merges"), "collisions are misjudged"),
    64: (("raw error",), "raw errors of references over several tables"),
    97: (("raw error",), "raw errors of references over several tables"),
    1: (("raw error",), "raw errors of references over several tables"),
    660: (("raw error",), "raw errors of references over several tables"),
    4: (("raw error", "raw error of the plan"), "columns have the names that the search for collisions uses"),
    273: (("raw error of the plan",), "columns have the names that the search for collisions uses"),
    98: (("refused without a stop in the plan",), "the plan does not say what stops the merge"),
}


def reason(schema, failure):
    checks, why = KNOWN.get(schema.seed, ((), None))
    return f"seed {schema.seed}, {why}" if failure.check in checks else None
