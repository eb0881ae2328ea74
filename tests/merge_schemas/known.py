"""Failures of the fixed seeds that are known, and why. Empty is best: what is mended is taken out."""

# seed: (checks that fail, reason)
KNOWN = {
    626: (("not the same",), "rows that triggers write are lost"),
}


def reason(schema, failure):
    checks, why = KNOWN.get(schema.seed, ((), None))
    return f"seed {schema.seed}, {why}" if failure.check in checks else None


def mended(schema, failures):
    """Checks that a seed is known to fail by, and does not."""
    checks, _ = KNOWN.get(schema.seed, ((), None))
    return sorted(set(checks) - {failure.check for failure in failures})
