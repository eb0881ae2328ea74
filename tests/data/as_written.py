#!/usr/bin/env python3
"""Computes tests/data/as_written.json: pairs of texts as they are written, and what DuckDB 2.0.1 gives for them by jaro_similarity, jaro_winkler_similarity and
damerau_levenshtein. Where rapidfuzz 3.14.6 gives another value, this program fails, but of two empty texts, which that one says are equal.

    python3 -m pip install duckdb==2.0.1 rapidfuzz==3.14.6
    python3 tests/data/as_written.py
"""

import json
import pathlib
import random

import duckdb
from rapidfuzz import distance

FILE = pathlib.Path(__file__).with_name("as_written.json")
SQL = "SELECT jaro_similarity($1, $2), jaro_winkler_similarity($1, $2), damerau_levenshtein($1, $2)"

GIVEN = [
    ("", ""), ("a", ""), ("", "ä"), (" ", " "), ("a", "A"), ("MARTHA", "MARHTA"), ("DWAYNE", "DUANE"), ("Dixon", "Dicksonx"), ("ca", "abc"), ("O'Brien", "OBrien"),
    ("Müller", "Mueller"), ("Müller", "Muller"), ("Straße", "Strasse"), ("é", "e\u0301"), ("Zoë Weiß", "zoe weiss"), ("高石早苗", "高市早苗"), ("東京都", "京都"),
    ("Иванов", "Иваноф"), ("👨‍👩‍👧", "👨‍👩‍👦"), ("😀😁", "😁😀"), ("anna maria", "maria anna"), ("1964-05-27", "1946-05-27"), ("erika@example.com", "erica@example.com"),
]  # fmt: skip


def corrupted(random_, text, letters, edits):
    """The text with so many characters inserted, dropped, replaced or swapped with a neighbour."""
    symbols = list(text)
    for _ in range(edits):
        at = random_.randrange(len(symbols))
        kind = random_.randrange(4)
        if kind == 0:
            symbols.insert(at, random_.choice(letters))
        elif kind == 1 and len(symbols) > 1:
            del symbols[at]
        elif kind == 2:
            symbols[at] = random_.choice(letters)
        elif at + 1 < len(symbols):
            symbols[at], symbols[at + 1] = symbols[at + 1], symbols[at]
    return "".join(symbols)


def pairs():
    yield from GIVEN
    random_ = random.Random(35)
    # Shorter and longer than one and than two machine words.
    for length in (1, 2, 5, 8, 13, 31, 63, 64, 65, 100, 128, 129, 200):
        for letters in ("ab", "Abc D-'", "aäöüßé日本😀 ", "abcdefghijklmnopqrstuvwxyzабвгдежзийклмн"):
            text = "".join(random_.choice(letters) for _ in range(length))
            yield text, corrupted(random_, text, letters, 1 + random_.randrange(1 + length // 4))
            yield text, "".join(random_.choice(letters) for _ in range(1 + length // 2))


def case(a, b):
    jaro, jaro_winkler, damerau = duckdb.execute(SQL, [a, b]).fetchone()
    assert damerau == distance.DamerauLevenshtein.distance(a, b), (a, b)
    if a or b:
        assert abs(jaro - distance.Jaro.similarity(a, b)) < 1e-12, (a, b)
        assert abs(jaro_winkler - distance.JaroWinkler.similarity(a, b)) < 1e-12, (a, b)
    return {"a": a, "b": b, "jaro": jaro, "jaro_winkler": jaro_winkler, "damerau": damerau}


cases = [case(a, b) for a, b in pairs()]
FILE.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(f"{len(cases)} pairs")
