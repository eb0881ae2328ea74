#!/usr/bin/env python3
"""Writes dates.tsv: names of months, and dates and times in words, as the Unicode CLDR has them.

Run with the Python package Babel 2.18.0, whose data are under the Unicode License v3: python3 tests/data/dates.py > tests/data/dates.tsv

Lines: month, language, number, name; date, language, YYYYMMDD, text; time, language, HHMMSS, text.
"""
import datetime
import random

from babel import Locale
from babel.dates import format_date, format_time

LANGUAGES = ["de", "de_AT", "en", "es", "fr", "it", "pl", "nl"]


def line(*fields):
    print(*fields, sep="\t")


for language in LANGUAGES:
    seen = set()
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in sorted(Locale.parse(language).months[context][width].items()):
                if (number, name) not in seen:
                    seen.add((number, name))
                    line("month", language, number, name)

rng = random.Random(1964)
first = datetime.date(1900, 1, 1)
for language in LANGUAGES:
    days = [datetime.date(1964, 5, 27), datetime.date(2000, 2, 29)]
    days += [first + datetime.timedelta(rng.randrange(45000)) for _ in range(30)]
    for day in days:
        line("date", language, day.strftime("%Y%m%d"), format_date(day, "long", locale=language))
for language in ("de", "en", "nl"):
    for _ in range(30):
        time = datetime.time(rng.randrange(24), rng.randrange(60), rng.randrange(60))
        line("time", language, time.strftime("%H%M%S"), format_time(time, "medium", locale=language))
