#!/usr/bin/env python3
"""Computes tests/data/address_parts.json: invented addresses of eleven habits and their parts, by PyPI's Faker 40.54.0, which puts addresses together as
the countries do.

    python3 -m pip install faker==40.54.0
    PYTHONHASHSEED=0 python3 tests/data/address_parts.py
"""

import json
import pathlib

from faker import Faker

FILE = pathlib.Path(__file__).with_name("address_parts.json")
EACH = 60


def case(fake, locale):
    street, number, postcode, city = fake.street_name(), fake.building_number(), fake.postcode(), fake.city()
    if locale == "de_DE":
        text = f"{street} {number}\n{postcode} {city}"
    elif locale == "en_GB":
        text = f"{number} {street}\n{city}\n{postcode}"
    elif locale == "en_US":
        unit = fake.random_element(["", f" {fake.secondary_address()}"])
        text = f"{number} {street}{unit}\n{city}, {fake.state_abbr()} {postcode}"
    elif locale == "es_ES":
        unit = fake.random_element(["", f" {fake.secondary_address()}"])
        text = f"{street} {number}{unit}\n{city}, {postcode}"
    elif locale == "fr_FR":
        text = f"{number}, {street}\n{postcode} {city}"
    elif locale in ("en_CA", "fr_CA"):
        unit = fake.random_element(["", f" {fake.secondary_address()}"])
        text = f"{number} {street}{unit}\n{city}, {fake.province_abbr()} {postcode}"
        postcode = postcode if " " in postcode else f"{postcode[:3]} {postcode[3:]}"
    elif locale == "es_CO":
        unit = fake.random_element(["", f"\n{fake.secondary_address()}"])
        text = f"{street} # {number}{unit}\n{postcode}\n{city}, {fake.department()}"
    elif locale == "da_DK":
        text = f"{street} {number}\n{postcode} {city}"
    elif locale == "en_NZ":
        text = f"{number} {street}\n{city} {postcode}"
    else:
        unit = fake.random_element(["", f" {fake.secondary_address()}"])
        text = f"{street}, {number}{unit}\n{postcode}, {city} ({fake.state_abbr()})"
    return {"locale": locale, "text": text, "street": street, "number": number, "postcode": postcode, "city": city}


cases = []
for locale in ("de_DE", "en_GB", "en_US", "es_ES", "fr_FR", "it_IT", "en_CA", "fr_CA", "es_CO", "da_DK", "en_NZ"):
    fake = Faker(locale)
    fake.seed_instance(16)
    cases += [case(fake, locale) for _ in range(EACH)]
FILE.write_text("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n", encoding="utf-8")
print(f"{len(cases)} addresses")
