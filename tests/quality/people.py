#!/usr/bin/env python3
"""people.py RECORDS SEED [MISSING | formats | others | --explain]: generated records of people as CSV on standard output, of which about a fifth are duplicates.

Columns: id, entity (the same for records of one person), given_name, surname, dob, street, city, postcode, phone, email.
The same arguments give the same bytes. Names and streets are those of the FEBRL data beside this file and made ones, the frequent ones much
more frequent than the rare ones. What makes it hard: families share surname, address and telephone; twins the date of birth as well; a father
and his son may share the name; people move, marry, change the telephone; records are sparse, abbreviated, swapped and misspelt.
With MISSING, from 0 to 1, the register is a sparse one: telephone and email are empty, and each other value is missing with that probability.
With --explain, each person is there twice, and the second record has one corruption, which two more columns name: corruption, and field, by which
such a corruption is looked for. corruptions.py has the kinds.
With the word others people live otherwise: more in families, with more twins, more sons of their father's name, more who move, and more errors.
With the word formats the people are the same, and each record was written by somebody with other habits: telephones with or without a country code, in
groups, with signs of all kinds; addresses of one provider with dots and tags that it does not look at, some with a display name or in capitals; and
the dates of birth are written as 27.05.1964.
"""

import csv
import gzip
import random
import sys
from bisect import bisect
from itertools import accumulate
from pathlib import Path

from corruptions import explained

DATA = Path(__file__).resolve().parent.parent / "data"
COLUMNS = ["given_name", "surname", "dob", "street", "city", "postcode", "phone", "email"]
GIVEN, SURNAME, DOB, STREET, CITY, POSTCODE, PHONE, EMAIL = range(8)

STARTS = "b br c ch cl d dr f fl fr g gr h j k kr l m n p pr r s sch sh st str t th tr v w z".split()
VOWELS = "a e i o u ai au ei ie oo ou ea".split()
ENDS = "ck d ff g k l ll m n nd ng nn nt p r rd rt s ss st t tt x".split()
SURNAME_TAILS = ["", "", "", "er", "man", "son", "ton", "ley", "ford", "berg", "ski", "ez", "ova", "field"]
GIVEN_TAILS = ["a", "e", "ia", "ina", "o", "us", "an", "el", "ette", "", "y"]
STREET_TAILS = ["street", "road", "lane", "place", "avenue", "crescent", "court", "close", "way", "drive"]
TOWN_TAILS = ["ton", "ville", "ford", "bury", "field", "haven", " park", " beach", "wood", " hill"]
HOSTS = ["mail.example", "post.example", "web.example", "inbox.example", "work.example", "uni.example"]
NICKNAMES = {
    "joshua": "josh", "thomas": "tom", "samuel": "sam", "benjamin": "ben", "william": "bill", "james": "jim", "matthew": "matt",
    "nicholas": "nick", "daniel": "dan", "alexander": "alex", "michael": "mike", "joseph": "joe", "jessica": "jess", "isabella": "bella",
    "emily": "em", "georgia": "georgie", "charlotte": "lottie", "olivia": "liv", "caitlin": "cait", "samantha": "sam", "jacob": "jake",
    "mitchell": "mitch", "lachlan": "lachie", "zachary": "zac", "cameron": "cam", "patrick": "pat", "timothy": "tim", "rebecca": "becky",
    "elizabeth": "liz", "katherine": "kate", "alexandra": "sandra", "jonathan": "jon", "andrew": "andy", "christopher": "chris",
    "anthony": "tony", "edward": "ted", "robert": "bob", "richard": "dick", "gabrielle": "gabby", "madeline": "maddie",
}  # fmt: skip
NEAR = dict(zip("abcdefghijklmnopqrstuvwxyz", "snvfrgfhujnkjmipwtdyicwzux"))


class Shares:
    """How people live, and how they are written down, as shares."""

    def __init__(self, alone=0.6, flat=0.08, wife=0.15, junior=0.05, twin=0.05, moved=0.10, changed_email=0.15, errors=1.0):
        self.alone = alone
        self.flat = flat
        self.wife = wife
        self.junior = junior
        self.twin = twin
        self.moved = moved
        self.changed_email = changed_email
        self.errors = errors


USUAL = Shares()
OTHERS = Shares(alone=0.35, flat=0.15, wife=0.3, junior=0.12, twin=0.12, moved=0.18, changed_email=0.25, errors=1.6)


class Pick:
    """Draws values; the one of rank r with weight 1 / (r + offset) ** power."""

    def __init__(self, values, power, offset):
        self.values = values
        self.sums = list(accumulate((rank + offset) ** -power for rank in range(len(values))))

    def __call__(self, rng):
        return self.values[bisect(self.sums, rng.random() * self.sums[-1])]


def febrl():
    """Given names, surnames, streets and suburbs of FEBRL 3 and 4, each by falling frequency."""
    counts = [{}, {}, {}, {}]
    for opened in (open(DATA / "febrl3.csv"), gzip.open(DATA / "quality" / "febrl4a.csv.gz", "rt")):
        with opened as lines:
            for row in csv.DictReader(lines):
                if row["rec_id"].endswith("-org"):
                    for count, column in zip(counts, ("given_name", "surname", "address_1", "suburb")):
                        value = row[column]
                        if len(value) > 2:
                            count[value] = count.get(value, 0) + 1
    return [sorted(count, key=lambda value: (-count[value], value)) for count in counts]


def made(rng, tails, syllables=1):
    word = "".join(rng.choice(STARTS) + rng.choice(VOWELS) for _ in range(syllables))
    return word + rng.choice(ENDS) + rng.choice(tails)


def more(rng, values, number, make):
    """The values, and made ones until there are so many."""
    known = dict.fromkeys(values)
    while len(known) < number:
        known[make()] = None
    return list(known)


class World:
    """What people draw from."""

    def __init__(self, rng, records, shares=USUAL):
        self.shares = shares
        given, surnames, streets, suburbs = febrl()
        towns = max(400, min(len(suburbs) * 3, records // 50))
        self.given = Pick(more(rng, given, 2500, lambda: made(rng, GIVEN_TAILS)), 0.95, 3)
        self.surname = Pick(
            more(rng, surnames, 12000, lambda: made(rng, SURNAME_TAILS, rng.choice((1, 1, 2)))), 0.85, 5
        )
        self.street = Pick(
            more(rng, streets, 15000, lambda: made(rng, [""], 2) + " " + rng.choice(STREET_TAILS)), 0.5, 10
        )
        names = more(rng, suburbs[:towns], towns, lambda: made(rng, TOWN_TAILS, 2))
        codes = rng.sample(range(10000, 99999), towns * 4)
        # The larger a town, the more postcodes it has.
        self.town = Pick(
            [
                (name, [str(code) for code in codes[4 * i : 4 * i + max(1, 4 - 8 * i // towns)]], f"0{2000 + i}")
                for i, name in enumerate(names)
            ],
            0.8,
            5,
        )

    def address(self, rng):
        """Street with its number, town, postcode, and the prefix of telephones there."""
        name, codes, prefix = self.town(rng)
        number = f"{int(rng.expovariate(1 / 40)) + 1}{rng.choice('abc') if rng.random() < 0.1 else ''}"
        return f"{number} {self.street(rng)}", name, rng.choice(codes), prefix

    def phone(self, rng, prefix):
        if rng.random() < 0.5:
            return f"04{rng.randrange(10)} {rng.randrange(1000000, 9999999)}"
        return f"{prefix} {rng.randrange(100000, 999999)}"


def date(rng, first, last):
    return rng.randrange(first, last + 1), rng.randrange(1, 13), rng.randrange(1, 29)


def text(parts):
    return "%04d-%02d-%02d" % parts


def email(rng, given, surname):
    given, surname = given.replace(" ", ""), surname.replace(" ", "").replace("'", "")
    digits = str(rng.randrange(1, 100)) if rng.random() < 0.5 else ""
    form = rng.randrange(4)
    local = (f"{given}.{surname}", f"{given[:1]}{surname}", f"{given}{surname[:1]}", f"{surname}.{given}")[form]
    return f"{local}{digits}@{rng.choice(HOSTS)}"


def household(world, rng):
    """The people of one address, as lists of the columns' values with the prefix of telephones at the end."""
    street, city, code, prefix = world.address(rng)
    surname, phone = world.surname(rng), world.phone(rng, prefix)

    def person(given, surname, born):
        own = world.phone(rng, prefix) if rng.random() < 0.35 else phone
        return [given, surname, text(born), street, city, code, own, email(rng, given, surname), prefix]

    year = rng.randrange(1930, 1981)
    father = person(world.given(rng), surname, date(rng, year, year))
    shares = world.shares
    if rng.random() < shares.alone:
        return [father]
    if rng.random() < shares.flat:
        # They share a flat, and nothing else.
        return [father, person(world.given(rng), world.surname(rng), date(rng, year - 3, year + 3))]
    people = [father]
    other = world.surname(rng) if rng.random() < shares.wife else surname
    people.append(person(world.given(rng), other, date(rng, year - 6, year + 6)))
    for child in range(rng.choice((0, 0, 1, 1, 2, 3))):
        given = father[GIVEN] if child == 0 and rng.random() < shares.junior else world.given(rng)
        born = date(rng, year + 20, year + 35)
        people.append(person(given, surname, born))
        if rng.random() < shares.twin:
            people.append(person(world.given(rng), surname, born))
    return people


def misspelt(rng, value):
    """One typing error in a value of at least two characters."""
    if len(value) < 2:
        return value
    at = rng.randrange(len(value) - 1)
    kind = rng.randrange(4)
    letter = value[at]
    if kind == 0:
        return value[:at] + value[at + 1 :]
    if kind == 1:
        return value[:at] + value[at + 1] + letter + value[at + 2 :]
    if kind == 2:
        return value[:at] + letter + value[at:]
    wrong = str(rng.randrange(10)) if letter.isdigit() else NEAR.get(letter, letter)
    return value[:at] + wrong + value[at + 1 :]


def duplicate(world, rng, person):
    """Another record of a person, made later and by someone else."""
    record = person[:]

    def chance(share):
        return rng.random() < share

    shares = world.shares
    if chance(shares.moved):
        record[STREET], record[CITY], record[POSTCODE], prefix = world.address(rng)
        if chance(0.6):
            record[PHONE] = world.phone(rng, prefix)
    elif chance(0.10):
        record[PHONE] = world.phone(rng, person[8])
    if chance(0.04):
        record[SURNAME] = world.surname(rng)
    if chance(shares.changed_email):
        record[EMAIL] = email(rng, record[GIVEN], record[SURNAME])
    if chance(0.10):
        record[GIVEN] = NICKNAMES.get(record[GIVEN], record[GIVEN])
    if chance(0.04):
        record[GIVEN] = record[GIVEN][:1] + ("." if chance(0.5) else "")
    elif chance(0.03):
        record[GIVEN] = record[GIVEN] + " " + world.given(rng)
    year, month, day = record[DOB].split("-")
    if chance(0.03) and int(day) < 13:
        record[DOB] = f"{year}-{day}-{month}"
    elif chance(0.03):
        record[DOB] = f"{int(year) + rng.choice((-1, 1, 10))}-{month}-{day}"
    if chance(0.02):
        record[GIVEN], record[SURNAME] = record[SURNAME], record[GIVEN]
    for field, share in enumerate((0.12, 0.12, 0.04, 0.15, 0.08, 0.05, 0.05, 0.04)):
        if chance(share * shares.errors):
            record[field] = misspelt(rng, record[field])
            if chance(0.2):
                record[field] = misspelt(rng, record[field])
    return record


def thinned(rng, record):
    """A record with what nobody has asked for left out."""
    record = record[:8]
    for field, share in enumerate((0.005, 0.0, 0.03, 0.02, 0.01, 0.02, 0.12, 0.25)):
        if rng.random() < share:
            record[field] = ""
    if rng.random() < 0.04:
        for field in rng.sample((DOB, STREET, POSTCODE, PHONE, EMAIL), rng.randrange(2, 5)):
            record[field] = ""
    return record


def people(records, seed, shares=USUAL):
    """So many records, in no order, as lists of entity and the columns' values, one after the other."""
    rng = random.Random(seed)
    world = World(rng, records, shares)
    made = []
    entity = 0
    while len(made) < records:
        for person in household(world, rng):
            entity += 1
            # One text each takes a fifth of the memory of nine.
            made.append("\t".join((f"e{entity}", *thinned(rng, person))))
            # 0.25 a person: a fifth of all records.
            more = rng.choices((0, 1, 2, 3), (82, 13, 3, 2))[0]
            for _ in range(more):
                made.append("\t".join((f"e{entity}", *thinned(rng, duplicate(world, rng, person)))))
    del made[records:]
    rng.shuffle(made)
    return (record.split("\t") for record in made)


def sparse(rng, record, missing):
    """A record, entity first, of a register that asks for neither telephone nor email, and in which other values are missing as well."""
    kept = [value if rng.random() >= missing else "" for value in record[1 : 1 + PHONE]]
    return [record[0], *kept, "", ""]


def written_phone(rng, value):
    """A telephone as others write it; the numbers are German ones."""
    prefix, _, number = value.partition(" ")
    if not (number.isdigit() and prefix[:1] == "0"):
        return value
    return rng.choice((
        f"{prefix} {number}",
        f"{prefix}/{number}",
        f"{prefix}{number}",
        f"({prefix}) {number[:3]} {number[3:]}",
        f"{prefix}/{number[:-2]}-{number[-2:]}",
        f"+49 {prefix[1:]} {number}",
        f"+49{prefix[1:]}{number}",
        f"+49 ({prefix[1:]}) {number[:2]} {number[2:4]} {number[4:]}",
        f"+49 (0){prefix[1:]} {number}",
        f"0049 {prefix[1:]} {number[:3]}-{number[3:]}",
    ))  # fmt: skip


def written_email(rng, value, name):
    """An e-mail address as others write it."""
    local, at, host = value.rpartition("@")
    if not at:
        return value
    if host == HOSTS[0]:
        # one provider of which the dots, the tags and the two names are known to mean the same mailbox
        host = rng.choice(("gmail.com", "gmail.com", "googlemail.com"))
        if rng.random() < 0.3:
            local = local.replace(".", "")
        if rng.random() < 0.2:
            local += "+" + rng.choice(("news", "shop", "x", "bank"))
    form = rng.random()
    if form < 0.2:
        local = ".".join(part.capitalize() for part in local.split("."))
    elif form < 0.25:
        local, host = local.upper(), host.upper()
    address = f"{local}@{host}"
    return f"{name.title()} <{address}>" if rng.random() < 0.05 else address


def written(rng, record):
    """A record, entity first, as somebody else would have written it."""
    record = record[:]
    born = record[1 + DOB].split("-")
    if len(born) == 3:
        record[1 + DOB] = ".".join(reversed(born))
    record[1 + PHONE] = written_phone(rng, record[1 + PHONE])
    record[1 + EMAIL] = written_email(rng, record[1 + EMAIL], record[1 + GIVEN])
    return record


def main():
    records, seed = int(sys.argv[1]), int(sys.argv[2])
    columns = ["id", "entity", *COLUMNS]
    if sys.argv[3:] == ["--explain"]:
        rng = random.Random(f"{seed} explain")
        made = explained(records, rng, World(rng, records))
        return write([*columns, "corruption", "field"], made)
    others = sys.argv[3:] == ["others"]
    made = people(records, seed, OTHERS if others else USUAL)
    if sys.argv[3:] == ["formats"]:
        rng = random.Random(f"{seed} formats")
        made = [written(rng, record) for record in made]
    elif len(sys.argv) > 3 and not others:
        rng = random.Random(f"{seed} missing")
        made = [sparse(rng, record, float(sys.argv[3])) for record in made]
    write(columns, made)


def write(columns, made):
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(columns)
    out.writerows([f"r{i + 1}", *record] for i, record in enumerate(made))


if __name__ == "__main__":
    main()
