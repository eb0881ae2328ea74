#!/usr/bin/env python3
"""Computes tests/data/name_parts.json: names and their parts by PyPI's nameparser 2.6.0, which reads names of English use. What it has as last name
has the particles in it.

    python3 -m pip install nameparser==2.6.0
    python3 tests/data/name_parts.py
"""

import json
import pathlib
import random

from nameparser import HumanName

FILE = pathlib.Path(__file__).with_name("name_parts.json")

TITLES = ["", "", "Dr.", "Mr.", "Mrs", "Prof.", "Sir", "Rev.", "Capt."]
GIVEN = ["John", "Mary", "Erika", "Hans-Peter", "J.", "Zoë", "Conan", "Ludwig"]
MIDDLE = ["", "", "F.", "Anna", "Quincy", "Paul M."]
SURNAMES = ["Smith", "O'Brien", "Müller", "Kennedy", "Smith-Jones", "van Beethoven", "von Goethe", "van der Berg", "de la Tour", "bin Laden"]
SUFFIXES = ["", "", "Jr.", "III", "PhD", "Sr.", "II"]


def names():
    random_ = random.Random(16)
    for _ in range(300):
        title, given, middle, surname, suffix = map(random_.choice, (TITLES, GIVEN, MIDDLE, SURNAMES, SUFFIXES))
        order = random_.randrange(3)
        if order == 0:
            yield " ".join(filter(None, (title, given, middle, surname, suffix)))
        elif order == 1:
            yield " ".join(filter(None, (title, given, middle, surname))) + (suffix and f", {suffix}")
        else:
            yield surname + ", " + " ".join(filter(None, (given, middle))) + (suffix and f", {suffix}")


def case(text):
    name = HumanName(text)
    return {"name": text, "titles": name.title, "given": " ".join(filter(None, (name.first, name.middle))), "surname": name.last, "suffixes": name.suffix}


cases = [case(text) for text in dict.fromkeys(names())]
FILE.write_text("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n", encoding="utf-8")
print(f"{len(cases)} names")
