#!/usr/bin/env python3
"""Makes tests/data/quality/name_pairs.csv.gz and name_lists.csv.gz: pairs of names with a known truth, and lists of names of which each has
aliases. The seeds are fixed, so the files come out the same.

    python3 -m pip install rigour==1.3.0 countrynames==1.17.0 anyascii==0.3.3 rapidfuzz==3.14.6
    python3 tests/quality/names.py

Persons: the spellings of one given name or surname in several languages are lines of persons.txt in the package rigour (MIT), which has them from
Wikidata (CC0). A person is a pair of lines. Companies are such a name with words of trade and a legal form, with typing errors, words left
out and other ways to write the form. Countries are the names of one country in many languages, from the package countrynames (MIT). A pair that is not
the same differs in one of its parts, for which the most similar of 300 others was taken.
"""

import csv
import gzip
import io
import pathlib
import random

import countrynames.data
import rigour
from anyascii import anyascii
from rapidfuzz.distance import JaroWinkler

FOLDER = pathlib.Path(__file__).parent.parent / "data" / "quality"
PAIRS, NAMES = 600, 2400

FORMS = [form.split("|") for form in """AG|Aktiengesellschaft
GmbH|Gesellschaft mit beschränkter Haftung|G.m.b.H.
Ltd|Limited|Ltd.
Inc|Incorporated|Inc.
LLC|L.L.C.|Limited Liability Company
S.A.|SA|Société Anonyme
OOO|ООО|Limited Liability Company
Corp.|Corporation|Corp
SARL|S.à r.l.
S.p.A.|SpA
B.V.|BV""".splitlines()]
TRADE = """Trading Shipping Holding Energy Steel Logistics Capital Invest Bank Insurance Systems Technology Electronics Foods Media Services
Consulting International Global Marine Construction Mining Textile Pharma Chemical Motors Aviation Finance Partners Group Industries Solutions
Metals Petroleum Gas Oil Trust Development Engineering""".split()


def spellings():
    """One word each, three of them at least."""
    file = pathlib.Path(rigour.__file__).parent / "data" / "names" / "persons.txt"
    for line in file.read_text(encoding="utf-8").splitlines():
        names = [name.strip() for name in line.split(" => ")[0].split(",")]
        names = [name for name in names if name and " " not in name]
        if len(names) >= 3:
            yield names


def is_latin(name):
    return all(ord(c) < 0x250 for c in name)


def plain(name):
    return "".join(c for c in anyascii(name).lower() if c.isalnum())


def near(name, groups, random_):
    """A spelling of another name, the most similar of some."""
    def similarity(group):
        return JaroWinkler.similarity(plain(name), plain(group[0])) if plain(group[0]) != plain(name) else 0

    return max(random_.sample(groups, 300), key=similarity)


def persons(groups, random_):
    def name(given, surname, middle=None):
        words = [random_.choice(given), random_.choice(surname)]
        if middle:
            words.insert(1, random_.choice(middle))
        if random_.random() < 0.25:
            words.reverse()
        return " ".join(words).title()

    for _ in range(PAIRS):
        given, surname = random_.choice(groups), random_.choice(groups)
        one = name(given, surname, random_.random() < 0.2 and random_.choice(groups))
        yield one, name(given, surname), True
        if random_.random() < 0.5:
            yield one, name(given, near(surname[0], groups, random_)), False
        else:
            yield one, name(near(given[0], groups, random_), surname), False


def with_error(word, random_):
    i = random_.randrange(1, len(word) - 1) if len(word) > 3 else 0
    if not i:
        return word
    return random_.choice([word[:i] + word[i + 1 :], word[:i] + word[i + 1] + word[i] + word[i + 2 :],
                           word[:i] + random_.choice("aeioulnrst") + word[i + 1 :], word[:i] + word[i] + word[i:]])


def companies(groups, random_):
    for _ in range(PAIRS):
        group, form = random_.choice(groups), random_.choice(FORMS)
        trade = random_.sample(TRADE, random_.choice((1, 1, 2)))
        one = " ".join([random_.choice(group).title(), *trade, random_.choice(form)])
        words = [with_error(word, random_) if random_.random() < 0.12 else word for word in [random_.choice(group).title(), *trade]]
        if random_.random() < 0.15 and len(words) > 2:
            words.pop()
        if random_.random() < 0.1:
            words[:2] = ["".join(words[:2])]
        if random_.random() < 0.75:
            words.append(random_.choice(form))
        other = " ".join(words)
        yield one, other.upper() if random_.random() < 0.3 else other, True
        other = near(group[0], groups, random_) if random_.random() < 0.5 else group
        if other is group:
            trade[0] = random_.choice([word for word in TRADE if word not in trade])
        yield one, " ".join([random_.choice(other).title(), *trade, random_.choice(form)]), False


def countries():
    for code, names in countrynames.data.DATA.items():
        names = [str(name) for name in names if len(str(name)) > 3]
        if len(names) > 3 and code != "FAIL":
            yield names


def country_pairs(groups, random_):
    for _ in range(PAIRS):
        group = random_.choice(groups)
        one, other = random_.sample(group, 2)
        yield one, other, True
        others = [random_.choice(o) for o in random_.sample(groups, min(200, len(groups))) if o is not group]
        yield one, max(others, key=lambda o: JaroWinkler.similarity(plain(one), plain(o))), False


def write(file, header, rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    (FOLDER / file).write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


def main():
    groups = list(spellings())
    latin = [[name for name in group if is_latin(name)] for group in groups]
    latin = [group for group in latin if len(group) > 1]
    land = list(countries())
    pairs = {
        "persons": persons(latin, random.Random(1)),
        "scripts": persons(groups, random.Random(2)),
        "companies": companies(latin, random.Random(3)),
        "countries": country_pairs(land, random.Random(4)),
    }
    write("name_pairs.csv.gz", ["set", "a", "b", "same"],
          [(of, a, b, "t" if same else "f") for of, rows in pairs.items() for a, b, same in rows])

    def aliases(groups, random_, make):
        names = {}
        for number in range(100000):
            for name in make(random_):
                names.setdefault(name, number)
            if len(names) >= NAMES:
                return names.items()
        return names.items()

    def person(groups):
        def make(random_):
            given, surname = random_.choice(groups), random_.choice(groups)
            for _ in range(5):
                words = [random_.choice(given), random_.choice(surname)]
                if random_.random() < 0.2:
                    words.reverse()
                yield " ".join(words).title()

        return make

    def single(random_):
        group = random_.choice(latin)
        return random_.sample(group, min(6, len(group)))

    def company(random_):
        group, form, trade = random_.choice(latin), random_.choice(FORMS), random_.sample(TRADE, 2)
        for _ in range(4):
            words = [random_.choice(group).title(), *trade[: random_.choice((1, 2, 2))]]
            words = [with_error(word, random_) if random_.random() < 0.15 else word for word in words]
            yield " ".join([*words, random_.choice(form)])

    shuffled = iter(random.Random(5).sample([[n for n in group if is_latin(n)] for group in land], len(land)))
    lists = {
        "persons": aliases(latin, random.Random(6), person(latin)),
        "scripts": aliases(groups, random.Random(7), person(groups)),
        "surnames": aliases(latin, random.Random(8), single),
        "companies": aliases(latin, random.Random(9), company),
        "countries": aliases(land, random.Random(10), lambda random_: random_.sample(g := next(shuffled, []), min(15, len(g)))),
    }
    write("name_lists.csv.gz", ["list", "entity", "name"], [(of, number, name) for of, names in lists.items() for name, number in names])
    for of, names in lists.items():
        print(of, len(names))


main()
