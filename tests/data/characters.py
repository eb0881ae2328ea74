#!/usr/bin/env python3
"""Writes characters.tsv: Chinese, Japanese and Korean names of persons and companies, and the tokens that they have.

Run with the Python package Faker 40.54.0 (MIT License) and Python 3.11 (Unicode 14): python3 tests/data/characters.py > tests/data/characters.tsv
It shares nothing with the Rust code: what a character is, its name in Unicode says.

Lines: text, tokens with blanks between them.
"""
import re
import unicodedata

from faker import Faker

EAST = re.compile("CJK UNIFIED|HIRAGANA|KATAKANA LETTER|KATAKANA-HIRAGANA PROLONGED|HANGUL|IDEOGRAPHIC ITERATION|BOPOMOFO")


def is_letter(c):
    return bool(EAST.match(unicodedata.name(c, "")))


def tokens(text):
    found, before = [], ""
    # Latin letters lose their accents, and apostrophes part no word
    plain = [unicodedata.normalize("NFD", c) for c in unicodedata.normalize("NFKC", text).lower()]
    plain = "".join(c[0] if c[0].isascii() else unicodedata.normalize("NFC", c) for c in plain).replace("'", "")
    for part in re.findall(r"[a-z0-9]+|[^a-z0-9]", plain):
        if re.match("[a-z0-9]", part):
            found.append(part)
            before = ""
        elif is_letter(part):
            if before:
                found.append(before + part)
            found.append(part)
            before = part
    return found


Faker.seed(16)
for locale in ("ja_JP", "zh_CN", "zh_TW", "ko_KR"):
    fake = Faker(locale)
    for _ in range(60):
        for text in (fake.name(), fake.company()):
            print(text, " ".join(tokens(text)), sep="\t")
    if locale == "ja_JP":
        for _ in range(40):
            name = fake.kana_name()
            print(name, " ".join(tokens(name)), sep="\t")
