#!/usr/bin/env python3
"""Computes tests/data/edit.json: pairs of normal forms and their edit distances and Jaro-Winkler similarities, by PyPI's rapidfuzz 3.14.6.
Where jellyfish 1.3.0 gives another value, this program fails.

    python3 -m pip install rapidfuzz==3.14.6 jellyfish==1.3.0
    python3 tests/data/edit.py
"""

import json
import pathlib
import random

import jellyfish
from rapidfuzz import distance

FILE = pathlib.Path(__file__).with_name("edit.json")

NAMES = """martha marhta dwayne duane dixon dicksonx kitten sitting saturday sunday jellyfish smellyfish ca abc
erikamustermann mustermannerika erikamustermannhof muellerluedenscheidt mullerludenscheidt meier maier mayer meyr
katherine catherine kathryn schmidt schmitt smith smyth jonhsmith johnsmith johnsmiht ivanov ivanow zhangwei zhangwie
a b ab ba abcd badc 19640527 19460527 19640725 0000000000 1111111111""".split()


def corrupted(random_, text, edits):
    """The text with so many symbols inserted, dropped, replaced or swapped with a neighbour."""
    symbols = list(text)
    for _ in range(edits):
        at = random_.randrange(len(symbols))
        kind = random_.randrange(4)
        if kind == 0:
            symbols.insert(at, random_.choice("abcdefgh"))
        elif kind == 1 and len(symbols) > 1:
            del symbols[at]
        elif kind == 2:
            symbols[at] = random_.choice("abcdefgh")
        elif at + 1 < len(symbols):
            symbols[at], symbols[at + 1] = symbols[at + 1], symbols[at]
    return "".join(symbols)


def pairs():
    random_ = random.Random(16)
    for a, b in zip(NAMES, NAMES[1:]):
        yield a, b
    for name in NAMES:
        yield name, corrupted(random_, name, 1 + random_.randrange(3))
    # Longer than one and than two machine words.
    for length in (31, 63, 64, 65, 100, 127, 128, 129, 200, 300):
        for letters in ("ab", "abcdefgh", "abcdefghijklmnopqrstuvwxyz0123456789"):
            text = "".join(random_.choice(letters) for _ in range(length))
            yield text, corrupted(random_, text, 1 + random_.randrange(length // 4))
            yield text, "".join(random_.choice(letters) for _ in range(length // 2))


def case(a, b):
    levenshtein = distance.Levenshtein.distance(a, b)
    damerau = distance.DamerauLevenshtein.distance(a, b)
    jaro_winkler = distance.JaroWinkler.similarity(a, b)
    assert levenshtein == jellyfish.levenshtein_distance(a, b), (a, b)
    assert damerau == jellyfish.damerau_levenshtein_distance(a, b), (a, b)
    assert abs(jaro_winkler - jellyfish.jaro_winkler_similarity(a, b)) < 1e-12, (a, b)
    return {"a": a, "b": b, "levenshtein": levenshtein, "damerau": damerau, "jaro_winkler": jaro_winkler}


cases = [case(a, b) for a, b in pairs()]
FILE.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(f"{len(cases)} pairs")
