#!/usr/bin/env python3
"""Writes data/clkhash.jsonl: records encoded by clkhash 0.18.3 from PyPI, which tests/clkhash.rs encodes as well.

    python3 -m venv v && v/bin/pip install clkhash==0.18.3 && v/bin/python vectors.py > data/clkhash.jsonl

Each line is a case: a schema, the secret in base64, records as arrays of texts, and for each its CLK in base64, or null if
clkhash refuses the record. The cases go through all that a schema can say; the same are written each time.
"""

import base64
import json
import random

from clkhash import clk, schema
from clkhash.serialization import serialize_bitarray

r = random.Random(34)
RECORDS = 84

GIVEN = ["Anna", "Otto", "Zoë", "José", "François", "Ángela", "Ali", "Bo", "Jean-Luc", "Maximilian", "O", "aaaa", "Mary Ann", "李小龙", "Ελένη", "Иван"]
SURNAMES = ["Müller", "Mueller", "O'Brien", "von der Heide", "Straße", "Smith", "Nguyễn", "Kowalski", "Ng", "de la Cruz", "ﬁne", "İpek", "ΟΔΥΣΣΕΥΣ", "x" * 60, "aaa", "bb", "Anna"]


def upper(text):
    return text.upper()


def strings(case=None):
    text = r.choice(GIVEN + SURNAMES + ["", " ", "a  b", "AB", "ab", "Ab1", "1 2"])
    return {"upper": upper(text), "lower": text.lower()}.get(case, text) if r.random() < 0.85 else text


def numbers():
    return r.choice([str(r.randint(-50, 5000)), f" {r.randint(0, 99)} ", f"+{r.randint(0, 999)}", f"-{r.randint(0, 9)}", "007", "1_000", "-0", "", "x", "1.5", "1e3", "12 3",
                     "123456789012345678901234567890", "__1", "1_", "\t42\n"])


def decimals():
    return r.choice([str(r.randint(-500, 500)), f"{r.uniform(-100, 100):.3f}", f"{r.uniform(0, 3):.6f}", "0.5", "1.5", "2.5", "-2.5", "1e2", "1E-2", ".5", "5.", " 3.25 ", "1_0.5", "",
                     "99999999999999999999", "0", "-0.0", "nan", "inf", "abc", "1e400", "170.05", "21", "23", "25"])


DATES = ["%Y-%m-%d", "%d/%m/%Y", "%d.%m.%y", "%d %b %Y", "%B %d, %Y", "%Y%m%d", "%a %d %b %Y", "%A, %d %B %Y", "%Y-%j", "%Y/%m/%d %H:%M:%S", "%m%%%d%%%Y", "%Y %m", "%y%m%d", "%d-%m-%Y %H:%M:%S.%f", "%Y"]


def dates(form):
    import datetime
    day = datetime.datetime(r.choice([r.randint(1900, 2030)] * 20 + [r.randint(100, 999)]), r.randint(1, 12), r.randint(1, 28), r.randint(0, 23), r.randint(0, 59), r.randint(0, 59), r.randint(0, 999999))
    text = day.strftime(form)
    what = r.random()
    if what < 0.6:
        return text
    if what < 0.7:
        return text.upper()
    if what < 0.75:
        return text.replace("0", "", 1)
    if what < 0.8:
        return text.replace(" ", "   ")
    if what < 0.85:
        return text + " "
    if what < 0.9:
        return " " + text
    return r.choice(["", "2001-02-29", "2000-02-29", "29.02.01", "31/04/1999", "00/00/0000", "x", "1999-13-01", "1999-366", "2000-366"])


PATTERNS = [r"[A-Z][a-z]+", r"^\w+$", r"[^0-9]*", r"(Anna|Otto|Bo)?", r"\D{2,5}", r"\w+(?:[ '-]\w+)*", r".*", r"[\w\s.'-]{1,20}", r"(?P<x>a+)|(b*)", r"\S+\s?\S*", r"[]a-z^-]+", r"[\u00c0-\u024fA-Za-z]+", r"\x41nna"]
ENUMS = [["m", "f", "x"], ["Anna", "Otto", ""], ["Ali"]]


def string_format(n):
    choice = n % 4
    form = {"type": "string"}
    if n % 3 == 0:
        form["encoding"] = ["ascii", "utf-8", "utf-16", "utf-32"][n // 3 % 4]
    if choice == 0:
        form["pattern"] = PATTERNS[n % len(PATTERNS)]
        return form, lambda: strings()
    case = ["upper", "lower", "mixed"][n % 3]
    if choice == 1:
        form["case"] = case
    if choice == 2:
        form["minLength"], form["maxLength"] = n % 3, 5 + n % 20
    return form, lambda: strings(form.get("case"))


def feature(n):
    """A format, and what makes values of it, mostly good ones."""
    kind = n % 5
    if kind in (0, 1):
        return string_format(n)
    if kind == 2:
        form = {"type": "integer"}
        if n % 2:
            form["minimum"], form["maximum"] = -3 - n % 3, 900
        return form, numbers
    if kind == 3:
        form = {"type": "date", "format": DATES[n // 5 % len(DATES)]}
        return form, lambda: dates(form["format"])
    form = {"type": "enum", "values": ENUMS[n % 3]}
    return form, lambda: r.choice(form["values"] + form["values"] + ["q"])


def missing(n):
    return [None, {"sentinel": ""}, {"sentinel": "", "replaceWith": "unknown"}, {"sentinel": "x", "replaceWith": ""}, {"sentinel": "N/A", "replaceWith": "n"}][n % 5]


def kdf(n):
    form = {"type": "HKDF"}
    if n % 3:
        form["hash"] = ["SHA256", "SHA512"][n % 2]
    if n % 4 > 1:
        form["salt"] = base64.b64encode(bytes(range(n % 40))).decode()
    if n % 5 > 2:
        form["info"] = base64.b64encode(b"info %d" % n).decode()
    if n % 7 > 3:
        form["keySize"] = [16, 32, 64, 7][n % 4]
    if n % 11 == 10:
        form = {"type": "legacy"}
    return form


def hash_of(n):
    return [{"type": "blakeHash"}, {"type": "doubleHash"}, {"type": "doubleHash", "prevent_singularity": True}, {"type": "doubleHash", "prevent_singularity": False}][n % 4]


def comparison(n, form):
    if form["type"] in ("integer",) and n % 2 == 0:
        return {"type": "numeric", "thresholdDistance": [5, 8, 2.5, 100][n % 4], "resolution": 1 + n % 4}
    if n % 6 == 5:
        return {"type": "exact"}
    form = {"type": "ngram", "n": 1 + n % 4}
    if n % 3:
        form["positional"] = n % 3 == 1
    return form


def strategy(n, names):
    return {names[0]: 1 + n % 45} if n % 2 else {names[1]: [10, 33, 100, 257][n // 2 % 4]}


def config(n, hashes):
    blake = any(h.get("type") == "blakeHash" for h in hashes)
    length = [64, 128, 256, 512, 1024][n % 5] if blake else [64, 100, 1, 257, 1024, 333][n % 6]
    form = {"l": length, "kdf": kdf(n)}
    if n % 3 == 2:
        form["xor_folds"] = n % 4
    return form


def version_3(n):
    features, makers, hashes = [], [], []
    for m in range(1 + n % 4):
        form, make = feature(n * 3 + m)
        hashing = {"comparison": comparison(n + m, form), "strategy": strategy(n + m, ["bitsPerToken", "bitsPerFeature"])}
        if (n + m) % 3:
            hashing["hash"] = hash_of(n + m)
        hashes.append(hashing.get("hash", {"type": "blakeHash"}))
        if missing(n + m):
            hashing["missingValue"] = missing(n + m)
        features.append({"identifier": f"f{m}", "description": "what it is", "format": form, "hashing": hashing})
        makers.append(make)
    if n % 2:
        features.insert(n % len(features), {"identifier": "left out", "ignored": True})
        makers.insert(n % (len(features) - 1), lambda: "anything")
    if n % 4 == 3:
        form = {"type": "string"}
        features.append({"identifier": "number", "format": form, "hashing": {"comparison": {"type": "numeric", "thresholdDistance": [0.5, 1, 7.25, 30][n // 4 % 4], "resolution": 1 + n % 3, "fractional_precision": n % 5 + 1},
                                                                              "strategy": {"bitsPerToken": 5}, "hash": hash_of(n), "missingValue": {"sentinel": ""}}})
        hashes.append(hash_of(n))
        makers.append(decimals)
    return {"version": 3, "clkConfig": config(n, hashes), "features": features}, makers


def version_2(n):
    features, makers, hashes = [], [], []
    for m in range(1 + n % 3):
        form, make = feature(n * 7 + m)
        hashing = {"ngram": 1 + (n + m) % 3, "strategy": strategy(n + m, ["k", "numBits"])}
        if n % 2:
            hashing["positional"] = bool(m % 2)
        if (n + m) % 4:
            hashing["hash"] = hash_of(n + m)
        hashes.append(hashing.get("hash", {"type": "blakeHash"}))
        if missing(n + m):
            hashing["missingValue"] = missing(n + m)
        features.append({"identifier": f"f{m}", "format": form, "hashing": hashing})
        makers.append(make)
    if n % 3 == 0:
        features.append({"identifier": "left out", "ignored": True})
        makers.append(lambda: "anything")
    return {"version": 2, "clkConfig": config(n, hashes), "features": features}, makers


def version_1(n):
    features, makers = [], []
    for m in range(1 + n % 3):
        form, make = feature(n * 11 + m)
        hashing = {"ngram": 1 + (n + m) % 3}
        if (n + m) % 2:
            hashing["positional"] = m % 2 == 0
        if (n + m) % 3:
            hashing["weight"] = [1, 0.5, 1.5, 0, 2, 0.25][(n + m) % 6]
        if missing(n + m):
            hashing["missingValue"] = missing(n + m)
        features.append({"identifier": f"f{m}", "format": form, "hashing": hashing})
        makers.append(make)
    clk_config = config(n, [hash_of(n)])
    clk_config.update(k=[10, 30, 4, 17][n % 4], hash=hash_of(n))
    return {"version": 1, "clkConfig": clk_config, "features": features}, makers


def parsed(form):
    return schema.from_json_dict(form, validate=form["clkConfig"]["kdf"]["type"] == "HKDF")


def value(field, make):
    """Mostly one that the feature may have."""
    for _ in range(1 if r.random() < 0.02 else 200):
        text = make()
        try:
            field.validate(text)
            field.format_value(text)
            break
        except ValueError:
            pass
    return text


def encoded(of, secret, record):
    try:
        return serialize_bitarray(clk.generate_clks([record], of, secret, validate=True, max_workers=1)[0])
    except (ValueError, OverflowError):
        return None


def fixed():
    """clkhash's own test_encoding_regression, as far as a schema says it: the secret "chicken", names and a date."""
    form = {"version": 1, "clkConfig": {"l": 1024, "k": 20, "kdf": {"type": "HKDF"}, "hash": {"type": "doubleHash"}},
            "features": [{"identifier": n, "format": {"type": "string"}, "hashing": {"ngram": g, "positional": p}} for n, g, p in [("a", 2, False), ("b", 2, False), ("c", 1, True)]]}
    return form, [lambda: r.choice(GIVEN), lambda: r.choice(SURNAMES), lambda: str(r.randint(1900, 2020))]


def main():
    cases = [fixed()] + [version_3(n) for n in range(80)] + [version_2(n) for n in range(24)] + [version_1(n) for n in range(16)]
    for n, (form, makers) in enumerate(cases):
        secret = [b"chicken", b"k", bytes(range(1, 65)), "ключ".encode(), b"long " * 30][n % 5]
        if form["clkConfig"]["kdf"]["type"] == "legacy":
            secret = secret[:64]
        of = parsed(form)
        records = [[value(field, make) for field, make in zip(of.fields, makers)] for _ in range(RECORDS)]
        clks = [encoded(of, secret, record) for record in records]
        if clks.count(None) > RECORDS // 2:
            raise SystemExit(f"case {n}: mostly refused: {form}")
        print(json.dumps({"schema": form, "secret": base64.b64encode(secret).decode(), "records": records, "clks": clks}, ensure_ascii=False, separators=(",", ":")))


main()
