#!/usr/bin/env python3
"""Computes tests/data/name_sim.json: pairs of names and their similarity by PyPI's rapidfuzz 3.14.6 (Jaro-Winkler) and scipy 1.17.1
(the best assignment of words), put together as docs/names.md says. The names are normal already: a to z, 0 to 9 and spaces.

    python3 -m pip install rapidfuzz==3.14.6 scipy==1.17.1
    python3 tests/data/name_sim.py
"""

import json
import pathlib
import random

import numpy
from rapidfuzz.distance import JaroWinkler
from scipy.optimize import linear_sum_assignment

FILE = pathlib.Path(__file__).with_name("name_sim.json")

PAIRS = """erika mustermann|mustermann erika
erika mustermann|erika anna mustermann
erika mustermann|erica musterman
erika mustermann|e mustermann
hans peter schmidt|schmitt hanspeter
siemens aktiengesellschaft|siemens ag
siemensag|siemens ag
volkswagen aktiengesellschaft|siemens aktiengesellschaft
mohammed abd al rahman|muhammad abdurrahman
vladimir vladimirovich putin|wladimir putin
aa ab|ab ac
aa ab ac|ac ad
a|b
a|a b c d e f g h i j
jp morgan chase and co|jpmorgan chase"""

WORDS = """anna maria hans peter schmidt schmitt meier mayer maria ivanov ivanow mohammed muhammad al rahman van der berg de la
cruz trading holding gmbh ag ltd limited international bank first national o brien li wang zhang aa ab ba abab baba 1 21 2021""".split()


def bigrams(name):
    run = "_" + name.replace(" ", "") + "_"
    return {run[i : i + 2] for i in range(len(run) - 1)}


def similarity(a, b):
    common, smaller = len(bigrams(a) & bigrams(b)), min(len(bigrams(a)), len(bigrams(b)))
    x, y = a.split(), b.split()
    symbols = numpy.array([[len(v) + len(w) for w in y] for v in x])
    weights = symbols * numpy.array([[JaroWinkler.similarity(v, w) for w in y] for v in x])
    # Of assignments that are equally good the one with the fewest symbols.
    assigned = linear_sum_assignment(weights - 1e-9 * symbols, maximize=True)
    return (weights[assigned].sum() / symbols[assigned].sum() + common / smaller) / 2


def pairs():
    for pair in PAIRS.splitlines():
        yield pair.split("|")
    random_ = random.Random(16)
    for _ in range(300):
        yield [" ".join(random_.choices(WORDS, k=random_.randint(1, 6))) for _ in "ab"]
    for _ in range(10):
        yield [" ".join(random_.choices(WORDS, k=random_.randint(20, 32))) for _ in "ab"]


cases = [{"a": a, "b": b, "similarity": similarity(a, b)} for a, b in pairs()]
FILE.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(f"{len(cases)} pairs")
