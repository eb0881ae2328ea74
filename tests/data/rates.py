#!/usr/bin/env python3
"""Computes tests/data/rates.json: rates of Bloom filters by their formulas, with 60 digits and nothing but the standard library.

    python3 tests/data/rates.py            writes rates.json
    python3 tests/data/rates.py --check    fails unless rates.json is what this program gives

The table of m/n from 2 to 15 with k = m/n * ln 2 is that of the literature (P. Cao: Bloom Filters - the math, 1998), the segment lengths
708, 49 and 37 those of n = 30, k = 3, delta = 0.1 by the three models.
"""

import json
import math
import pathlib
import sys
from decimal import Decimal, getcontext

FILE = pathlib.Path(__file__).with_name("rates.json")
getcontext().prec = 60
ONE = Decimal(1)


def fpr(k, m, n):
    return (ONE - (-Decimal(k * n) / m).exp()) ** k


def exact(k, m, n):
    return (ONE - (ONE - ONE / m) ** (k * n)) ** k


def optimal_k(m, n):
    return max(1, int(Decimal(m) / n * Decimal(2).ln() + Decimal("0.5")))


def omissions(k, m, n):
    rates = [exact(k, m, i) for i in range(n)]
    none = ONE
    for rate in rates:
        none *= ONE - rate
    return sum(rates), ONE - none


def collision(model, p, n, k):
    if model == "fpr":
        one = ONE - (-Decimal(n) / p).exp()
    elif model == "birthday":
        free = ONE
        for i in range(n):
            free *= Decimal(max(p - i, 0)) / p
        one = ONE - free
    else:
        one = ONE - (ONE - ONE / (2 * p)) * (ONE - Decimal(3) / (4 * p)) ** (n - 1)
    return one ** k


def segment_length(model, n, k, delta):
    p = 1
    while collision(model, p, n, k) > Decimal(delta):
        p += 1
    return p


def case(**values):
    return {name: float(value) if isinstance(value, Decimal) else value for name, value in values.items()}


def rates():
    shapes = [(7, 301, 32), (8, 1000, 100), (1, 5, 1), (1, 5, 0), (3, 5, 4), (64, 524224, 10000), (8, 10**12, 10**11), (4, 10**12, 1), (1, 1, 1)]
    yield "expected", [case(k=k, m=m, n=n, fpr=fpr(k, m, n), exact=exact(k, m, n)) for k, m, n in shapes]
    yield "table", [case(m=m, k=optimal_k(m, 1), fpr=fpr(optimal_k(m, 1), m, 1)) for m in range(2, 16)]
    yield "optimal_k", [case(m=m, n=n, k=optimal_k(m, n)) for m, n in [(301, 32), (1, 1000), (10**12, 10**11), (96, 10), (5, 1)]]
    yield "omissions", [
        case(k=k, m=m, n=n, expected=omissions(k, m, n)[0], any=omissions(k, m, n)[1])
        for k, m, n in [(7, 301, 32), (1, 100, 50), (3, 1000, 200), (4, 64, 300), (8, 20000, 2000), (5, 40, 1), (5, 40, 0), (2, 10**9, 1000)]]
    yield "distinct", [
        {"m": m, "k": k, "words": str(math.comb(m, k))}
        for m, k in [(301, 7), (10, 0), (0, 0), (3, 4), (10, 10), (524224, 64), (2**62, 3), (1000, 500), (10**9, 300), (99, 9), (1000000000, 2)]]
    yield "segment_length", [
        {"model": model, "n": n, "k": k, "delta": delta, "p": segment_length(model, n, k, delta)}
        for n, k, delta in [(30, 3, "0.1"), (32, 7, "0.01"), (1, 1, "0.5"), (10, 2, "0.05"), (100, 5, "0.3"), (5, 1, "1")]
        for model in ("birthday", "fpr", "coll")]


def main():
    sections = (json.dumps(name) + ": [\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]" for name, cases in rates())
    text = "{\n" + ",\n".join(sections) + "\n}\n"
    if sys.argv[1:] == ["--check"]:
        if FILE.read_text() != text:
            sys.exit(f"{FILE} is not what {__file__} gives")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        FILE.write_text(text)


if __name__ == "__main__":
    main()
