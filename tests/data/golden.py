#!/usr/bin/env python3
"""Computes tests/data/golden.json: inputs, and what any correct implementation makes of them.

It shares nothing with the Rust code: sets of bit numbers instead of words of bits, the formulas written out, the hash of a token in
xxh3.py from its specification, and only the standard library. Normalised strings cannot be computed as simply; they are written down from the rules for them.

    python3 tests/data/golden.py            writes golden.json
    python3 tests/data/golden.py --check    fails unless golden.json is what this program gives

The file has one case a line, so that a difference shows the case.
"""

import itertools
import json
import math
import pathlib
import sys

sys.dont_write_bytecode = True
from xxh3 import xxh3  # noqa: E402 (it lies beside this file)

FILE = pathlib.Path(__file__).with_name("golden.json")

# The place of a symbol in this string, counted from 0, is its number.
SYMBOLS = "_abcdefghijklmnopqrstuvwxyz0123456789"

# The shape most cases use: ngram, k, p.
USUAL = 3, 7, 43


def ngrams(text, ngram):
    """Every window of `ngram` symbols over the text between `ngram` - 1 blanks ("_") on each side; none of an empty text."""
    if not text:
        return []
    blanks = "_" * (ngram - 1)
    padded = blanks + text + blanks
    return [padded[start:start + ngram] for start in range(len(text) + ngram - 1)]


def number(word):
    """The n-gram as a number, its symbols the digits 1 to 37 to the base 37."""
    return sum((SYMBOLS.index(symbol) + 1) * 37 ** place for place, symbol in enumerate(reversed(word)))


def bits(text, ngram, k, p):
    """The bit numbers of a signature: k segments of p bits each; an n-gram sets one bit in every segment."""
    return set().union(*(word_bits(word, k, p) for word in ngrams(text, ngram)))


def word_bits(word, k, p):
    start, step = number(word) % p, number(word) % (p - 2) + 1
    return {segment * p + (start + segment * step) % p for segment in range(k)}


def jaccard(a, b):
    return len(a & b) / len(a | b) if a or b else 0.0


def hashes(m_over_n):
    """How many bits an n-gram should set, for so many bits of the signature for each n-gram."""
    return max(1, math.floor(m_over_n * math.log(2) + 0.5))


def false_positives(k, m, n):
    """The rate at which n-grams that are not in it seem to be in a signature of m bits with n n-grams of k bits."""
    return (1 - math.exp(-k * n / m)) ** k


def split_mix(state, nth):
    """Number nth, from 0 on, that the generator SplitMix64 gives from a state on."""
    z = (state + (nth + 1) * 0x9E3779B97F4A7C15) % 2 ** 64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2 ** 64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2 ** 64
    return z ^ z >> 31


def token_bits(tokens, k, p):
    """The bit numbers of a signature of tokens; a token sets one bit in every segment, each wherever it falls."""
    return {
        segment * p + split_mix(xxh3(token.encode()), segment) * p // 2 ** 64 for token in tokens for segment in range(k)
    }


def plan(max_chars, ngram, fpr):
    """The shape for texts of up to max_chars symbols and a rate of false positives; for as many tokens, if there is no n-gram."""
    n = max_chars + ngram - 1 if ngram else max_chars
    wanted = math.ceil(-n * math.log(fpr) / math.log(2) ** 2)
    k = hashes(wanted / n)
    p = next(p for p in range(max(wanted // k, 5), 1, -1) if all(p % d for d in range(2, math.isqrt(p) + 1)))
    return {
        "max_chars": max_chars, "q": ngram, "fpr": fpr, "n": n, "k": k, "p": p, "m": k * p,
        "actual_fpr": false_positives(k, k * p, n), "pattern_floor": n / (p * (p - 2)) if ngram else n / p ** k,
    }


def counters(texts, ngram, k, p):
    """The counters of a counting filter: how many distinct n-grams of each text, or tokens of each set, set a bit; 15 at most."""
    counted = [0] * (k * p)
    for text in texts:
        for word in set(ngrams(text, ngram) if ngram else text):
            for bit in word_bits(word, k, p) if ngram else token_bits([word], k, p):
                counted[bit] += 1
    return [min(counter, 15) for counter in counted]


def token_signature(tokens, max_tokens, fpr):
    k, p = (plan(max_tokens, 0, fpr)[name] for name in "kp")
    return {"tokens": tokens, "max_tokens": max_tokens, "fpr": fpr, "k": k, "p": p, "bits": sorted(token_bits(tokens, k, p))}


def date_signature(date, digits):
    """The bits of a date whose digits YYMMDD are these; parts that are not known are no digits."""
    year, month, day = (digits[i:i + 2] for i in (0, 2, 4))
    by_order = [year] + (sorted([month, day]) if "?" not in digits else [month, day])
    by_digit = ["".join(sorted(part)) for part in (year, month, day)]
    tokens = {
        f"{i + 1}{order[i]}{j + 1}{order[j]}"
        for order in (digits, "".join(by_order), "".join(by_digit))
        for i, j in itertools.combinations(range(6), 2) if "?" not in order[i] + order[j]
    }
    return {"date": date, "bits": sorted(token_bits(sorted(tokens), 1, 307))}


def token_sims(a, b):
    x, y = set(a), set(b)
    return {"a": a, "b": b, "jaccard": jaccard(x, y), "containment": len(x & y) / len(x) if x else 0.0}


def measures(a, b):
    x, y = bits(a, *USUAL), bits(b, *USUAL)
    common = len(x & y)
    return {
        "a": a, "b": b, "bits_a": len(x), "bits_b": len(y), "common": common, "hamming": len(x ^ y), "jaccard": jaccard(x, y),
        "dice": 2 * common / (len(x) + len(y)) if x or y else 0.0,
        "overlap": common / min(len(x), len(y)) if x and y else 0.0,
        "cosine": common / math.sqrt(len(x) * len(y)) if x and y else 0.0,
        "containment": common / len(x) if x else 0.0,
    }


def estimates(text):
    fill = len(bits(text, *USUAL)) / (7 * 43)
    return {"s": text, "fill": fill, "fpr": fill ** 7, "words": -43 * math.log(1 - fill)}


def by_word(a, b):
    """Similarity of two lists of words, each of which is hashed by itself."""
    x, y = (set().union(*(bits(word, *USUAL) for word in words)) for words in (a, b))
    return {"a": a, "b": b, "jaccard": jaccard(x, y)}


def profile(sims, weights):
    """The weighted mean of the similarities that there are."""
    known = [(sim, weight) for sim, weight in zip(sims, weights) if sim is not None]
    weight = sum(weight for _, weight in known)
    return {"sims": sims, "weights": weights, "result": sum(s * w for s, w in known) / weight if known else None}


def collision(p, n, k):
    """Probabilities that n-grams share bits: by the formula for filters, by that for birthdays, and for two starts and steps."""
    birthday = 1 - math.prod((p - i) / p for i in range(n)) if n <= p else 1.0
    return {
        "p": p, "n": n, "k": k, "fpr": (1 - math.exp(-n / p)) ** k,
        "birthday": birthday ** k,
        "coll": (1 - (1 - 1 / (2 * p)) * (1 - 3 / (4 * p)) ** (n - 1)) ** k,
    }


def luhn(text):
    """Whether the last digit is the one that the others ask for. Blanks and hyphens do not count."""
    digits = [int(c) for c in reversed(text) if c not in " -"]
    doubled = [sum(divmod(2 * d, 10)) if place % 2 else d for place, d in enumerate(digits)]
    return {"s": text, "valid": sum(doubled) % 10 == 0}


def scramble(x):
    """32 bits into others, none of which stands for one bit alone."""
    x = (x ^ x >> 16) * 0x7FEB352D % 2 ** 32
    x = (x ^ x >> 15) * 0x846CA68B % 2 ** 32
    return x ^ x >> 16


def minima(tokens, n, family):
    """The least value of a set of tokens in each of n lanes; 2^32 - 1 if there are no tokens."""
    hashes = [divmod(xxh3(token.encode()), 2 ** 32) for token in tokens]
    least = []
    for lane in range(n):
        high, low = divmod(split_mix(0, 1024 * family + lane), 2 ** 32)
        values = [scramble(scramble(hash_low ^ low) ^ hash_high ^ high) for hash_high, hash_low in hashes]
        least.append(min(values, default=2 ** 32 - 1))
    return least


def sketch(tokens, n, family):
    """What a value of type minhash and one of type minhash_bits have behind their headers."""
    least = minima(tokens, n, family)
    sampled = sum((x & 1) << i for i, x in enumerate(least)) if tokens else 0
    return {
        "tokens": tokens, "n": n, "family": family,
        "minima": b"".join(x.to_bytes(4, "little") for x in least).hex() if tokens else "empty",
        "sampled": sampled.to_bytes((n + 7) // 8, "little").hex() if tokens else "empty",
    }


def sketch_sim(a, b, n):
    """Estimates from minima and from their lowest bits, and how many of these differ."""
    x, y = minima(a, n, 0), minima(b, n, 0)
    equal = sum(p == q for p, q in zip(x, y))
    agree = sum((p ^ q) & 1 == 0 for p, q in zip(x, y))
    return {"a": a, "b": b, "n": n, "minima": equal / n, "bits": (2 * agree - n) / n, "differ": n - agree}


def sketch_error(similarity, n):
    return {
        "similarity": similarity, "n": n, "minima": math.sqrt(similarity * (1 - similarity) / n),
        "bits": math.sqrt((1 - similarity) * (1 + similarity) / n),
    }


NAMES = [
    "", "a", "li", "erika", "erica", "mueller", "muller", "mustermann", "mustermanm", "annaanna", "muellerluedenscheidt",
    "19640527", "19640572", "49404228384625", "mariadelaconcepcion",
]
PAIRS = [
    ("erika", "erica"), ("mueller", "muller"), ("mustermann", "mustermanm"), ("19640527", "19640572"), ("anna", "annaanna"),
    ("li", "mustermann"),
]
SHAPES = [(3, 7, 43), (2, 7, 43), (3, 10, 101), (3, 2, 251), (3, 16, 61), (4, 5, 97)]
NORMALISED = {
    "Müller-Lüdenscheidt": "muellerluedenscheidt", "Weiß": "weiss", "Citroën": "citroeen", "Muñoz Ñúñez": "munoznunez",
    "Ångström": "angstroem", "Þórður": "thordhur", "O'Brien": "obrien", "François-Élodie": "francoiselodie", "Đặng": "dang",
    "Łukasz": "lukasz", "STRAẞE": "strasse", "Œuvre æsir": "oeuvreaesir", "Søren": "soeren", "ﬁsh": "fish", "ＡＢＣ１": "abc1",
    "27. Mai 1964": "27mai1964", "  ": "", "": "", "_a_": "a",
}

SENTENCES = {
    "The world is for you to get over with!": "the world is for you to get over with",
    "Let's take over the world!": "lets take over the world",
    "Call +49 40 422838, -3.50 or (1,200.5%)": "call +49 40 422838 -3.50 or 1200.5",
    "e-mail: Erika_Mustermann@example.com ...": "email erikamustermannexamplecom",
    " \t\n": "", "": "", "-": "",
}
SETS = [[], [""], ["a"], ["the", "world"], ["browser_mozilla", "plugin_flash", "zipcode_20121"], [f"token{n}" for n in range(100)]]
JSON = [
    ({"browser": "Mozilla Firefox", "plugins": "Flash,Silverlight", "zipcode": 20121},
     "browser_mozilla browser_firefox plugin_flash plugin_silverlight zipcode_20121"),
    ({"browser": "Google Chrome", "plugins": "Flash,Java", "likes": [123, 124]},
     "browser_google browser_chrome plugin_flash plugin_java like_123 like_124"),
    ({"plugins": [{"name": "Flash", "versions": [1, 2.50]}, {"name": None}], "categories": True},
     "plugin_name_flash plugin_version_1 plugin_version_2.5 category_true"),
    ("Mozilla, Firefox", "mozilla firefox"), ([1, [-2.5, "x y"]], "1 -2.5 x y"), ({}, ""), (None, ""), (False, "false"),
]
SINGULAR = {
    "status": "status", "address": "address", "categories": "category", "boxes": "box", "addresses": "address", "searches": "search",
    "hashes": "hash", "plugins": "plugin", "likes": "like", "analysis": "analysis", "browser": "browser",
}


WORDS_A = ["the", "world", "is", "for", "you", "to", "get", "over", "with"]
WORDS_B = ["lets", "take", "over", "the", "world"]


def golden():
    """The cases of each kind. "q" is the length of an n-gram, "words" are n-grams."""
    words = ["__e", "_er", "eri", "rik", "ika", "ka_", "a__", "abc", "mno", "___", "999", "__", "ab", "9_", "zz9_"]
    shapes = [{"q": ngram, "k": k, "p": p} for ngram, k, p in SHAPES]
    return {
        "idx": {word: number(word) for word in words},
        "ngrams": [
            {"s": s, "q": ngram, "words": ngrams(s, ngram)}
            for s, ngram in [("erika", 3), ("erika", 2), ("a", 3), ("", 3), ("anna", 2), ("19640527", 3)]
        ],
        "normalize": [{"s": s, "out": out} for s, out in NORMALISED.items()],
        "luhn": [
            luhn(s) for s in ["4111111111111111", "4111111111111112", "79927398713", "79927398710", "378282246310005", "0",
                              "4111 1111-1111 1111"]
        ],
        "signature": [
            {"s": s, **shape, "bits": sorted(bits(s, *shape.values()))} for shape, s in itertools.product(shapes, NAMES)
        ],
        "counting": [
            {"texts": texts, **shape, "counters": counters(texts, *shape.values())}
            for shape, texts in itertools.product(
                [shapes[0], {"q": 2, "k": 2, "p": 5}],
                [["a"], ["erika", "erica", "erika"], ["annaanna"] * 2 + ["", "li"], NAMES, ["mustermann"] * 16 + ["muellerluedenscheidt"]])
        ],
        "counting_tokens": [
            {"sets": sets, "q": 0, "k": k, "p": p, "counters": counters(sets, 0, k, p)}
            for (k, p), sets in itertools.product(
                [(7, 43), (2, 5)], [[["a"]], SETS, [["a", "a", "b"], ["a"]], [["a", "b"]] * 20, [["Müller"], ["世界", ""]] * 3])
        ],
        "jaccard": [
            {"a": a, "b": b, **shape, "words": jaccard(set(ngrams(a, shape["q"])), set(ngrams(b, shape["q"]))),
             "bits": jaccard(bits(a, *shape.values()), bits(b, *shape.values()))}
            for (a, b), shape in itertools.product(PAIRS, shapes[:3])
        ],
        "measures": [measures(a, b) for a, b in PAIRS + [("", "anna"), ("", "")]],
        "estimates": [estimates(s) for s in NAMES],
        "by_word": [by_word(a, ["erika", "mustermann"]) for a in (["mustermann", "erika"], ["erika"])],
        "profile": [
            profile([1.0, 0.5, 0.25], [0.5, 0.3, 0.2]), profile([1.0, None, 0.25], [0.5, 0.3, 0.2]),
            profile([None, None], [1, 1]), profile([0.2, 0.4], [2, 6]),
        ],
        "plan": [
            plan(*given) for given in [(30, 3, 0.01), (30, 2, 0.01), (60, 3, 0.01), (8, 2, 0.01), (30, 3, 0.001), (30, 3, 0.1),
                                       (120, 3, 0.05), (1, 2, 0.9), (1, 2, 0.01), (32, 0, 0.01), (100, 0, 0.05), (1, 0, 0.5)]
        ],
        "token_hash": [
            {"token": token, "hash": xxh3(token.encode())}
            for token in ["", "a", "lets", "Müller", "世界", "browser_mozilla", "\U0001f600"] + [
                ("abcdefghij" * 210)[:n]
                for n in [2, 3, 4, 8, 9, 16, 17, 32, 33, 64, 65, 96, 97, 128, 129, 144, 240, 241, 1024, 1025, 2100]
            ]
        ],
        "token_signature": [
            token_signature(tokens, *given) for given, tokens in itertools.product([(32, 0.01), (100, 0.05), (1, 0.5)], SETS)
        ],
        "token_sims": [
            token_sims(a, b) for a, b in [
                (a.split(), b.split()) for a, b in itertools.product(list(SENTENCES.values())[:3] + [""], repeat=2)
            ] + [(["a", "a", "b"], ["b"])]
        ],
        "date_signature": [
            date_signature(date, digits) for date, digits in [
                ("19640527", "640527"), ("20000229", "000229"), ("1864-12-03", "641203"), ("19999999", "999999"), ("19648627", "648627"),
                ("19640500", "6405??"), ("19640027", "64??27"), ("19640000", "??????"), ("1964", "??????"), ("", "??????"),
            ]
        ],
        "tokens": [{"s": s, "tokens": tokens.split()} for s, tokens in SENTENCES.items()],
        "json_tokens": [{"json": json, "tokens": sorted(tokens.split())} for json, tokens in JSON],
        "singular": [{"key": key, "singular": singular} for key, singular in SINGULAR.items()],
        "fpr": [
            {"k": k, "m": m, "n": n, "fpr": false_positives(k, m, n)}
            for k, m, n in [(8, 10, 1), (7, 301, 32), (7, 10, 1), (1, 2, 1), (10, 15, 1)]
        ],
        "m_over_n_rate": [{"m_over_n": r, "k": hashes(r), "fpr": false_positives(hashes(r), r, 1)} for r in range(2, 16)],
        "optimal_hashes": [{"m_over_n": r, "k": hashes(r)} for r in range(2, 16)],
        "distinct_words": [{"m": m, "k": k, "n": math.comb(m, k)} for m, k in [(49, 6), (10, 3), (25, 12)]],
        "collision": [collision(*given) for given in [(48, 30, 3), (36, 30, 3), (43, 32, 7), (101, 32, 7)]],
        "corrected": [{"delta": d, "factor": (1 + 2 * d - d * d) / (1 + d * d)} for d in (0, 0.01, 0.05, 0.1)],
        "sketch": [
            sketch(tokens, n, family)
            for tokens, n, family in [
                (WORDS_A, 128, 0), (WORDS_B, 128, 0), (["the"], 192, 0), (["the", "Müller", ""], 40, 0), (WORDS_A, 9, 7),
                (WORDS_B, 64, 65535), (["x" * 300], 1, 0), ([], 12, 0), ([f"word {i}" for i in range(150)], 33, 3),
            ]
        ],
        "sketch_sim": [
            sketch_sim(a, b, n)
            for (a, b), n in itertools.product([(WORDS_A, WORDS_B), (WORDS_A, WORDS_A[:7]), (WORDS_A, ["x"]), (["a"], ["a"])], [1, 64, 192])
        ],
        "sketch_error": [sketch_error(*given) for given in [(0, 1), (0.8, 192), (0.7, 128), (1, 64), (0.5, 1024)]],
        "superimposed_fpr": [
            {"m": 301, "n": 32, "filters": filters, "fpr": 0.6185 ** (301 / (filters * 32))} for filters in (1, 2, 3)
        ],
    }


def lines(kinds):
    """JSON with the kinds and the keys of each case in the order of the alphabet, and one case a line."""
    parts = []
    for kind, cases in sorted(kinds.items()):
        if isinstance(cases, dict):
            of_kind = [f"{json.dumps(key)}: {json.dumps(cases[key])}" for key in sorted(cases)]
        else:
            of_kind = [json.dumps(case, sort_keys=True) for case in cases]
        first, last = "{}" if isinstance(cases, dict) else "[]"
        parts.append(f'"{kind}": {first}\n' + ",\n".join(of_kind) + f"\n{last}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main():
    text = lines(golden())
    if sys.argv[1:] == ["--check"]:
        if FILE.read_text() != text:
            sys.exit(f"{FILE} is not what {__file__} gives")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        FILE.write_text(text)


if __name__ == "__main__":
    main()
