#!/usr/bin/env python3
"""register.py FOLDER: the made-up register of a library, for docs/tutorial.md: register.csv, loan.csv, truth.csv, and day.csv, which came in
a day later, with day_truth.csv.

The same bytes each time. Readers live in households: they share surname, street and telephone. There are twins, fathers and sons of one name, people
who share nothing but a flat, and readers who were entered again: with typing errors, with ue for ü, under a married name, after they had
moved, or with half of the fields. Dates of birth, telephones and e-mail addresses were written as each clerk pleased.
truth.csv says which records are one reader; nobody would have it. decision.csv beside this file is not made here: it has what somebody decided about
pairs that a model had found.
"""

import csv
import random
import sys
from pathlib import Path

RECORDS, DAY = 4000, 1000
MEN = """Ben David Felix Günter Jonas Jürgen Karl Łukasz Mehmet Otto Robert Stefan Theo Andreas Björn Christian Dieter Emil Erik Frank Georg Hans Heinz Igor Jan
    Jörg Klaus Lars Leon Luca Manfred Marek Markus Matthias Max Michael Mustafa Niklas Noah Oliver Paul Peter Philipp Rainer Ralf Rolf Rüdiger Sebastian Sören Thomas Tim Uwe Volker Walter Werner Wolfgang""".split()
WOMEN = """Anna Ayşe Clara Elif Greta Hanna Ida Lena Maria Paula Sofia Ulrike Vera Zoë Andrea Angelika Barbara Bärbel Birgit Brigitte Carla Charlotte Christa Doris Elke Emma Erika Eva
    Fatma Franziska Gabriele Gisela Heike Helga Ingrid Jana Johanna Julia Karin Katarzyna Käthe Lea Luise Marie Martina Mia Monika Nina Petra Renate Ruth Sabine Sigrid Silke Susanne Ursula Ute""".split()
SURNAMES = """Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Schäfer Koch Bauer Richter Klein Wolf Schröder Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann
    Lange Schmitt Werner Krause Meier Lehmann Köhler Maier Herrmann König Walter Mayer Huber Kaiser Fuchs Peters Lang Scholz Möller Weiß Jung Hahn Vogel Schubert Roth Friedrich Keller Günther Frank
    Berger Winkler Beck Lorenz Baumann Franke Albrecht Simon Ludwig Böhm Winter Kraus Martin Vogt Stein Jäger Otto Sommer Groß Seidel Heinrich Brandt Haas Schreiber Graf Dietrich Ziegler Kuhn Kühn Pohl
    Engel Horn Busch Bergmann Voigt Sauer Arnold Wolff Pfeiffer Yılmaz Öztürk Kaya Demir Şahin Nowak Kowalski Wiśniewski Nguyen Petrović Horvat Ivanov Rossi Santos Özdemir Lindqvist Größl Überreiter""".split()
STREETS = """Ahornweg Amselweg Bachgasse Bahnhofstraße Bergstraße Birkenweg Brunnengasse Burgstraße Dorfstraße Eichenweg Feldweg Finkenweg Gartenstraße Goethestraße Hafenstraße Hauptstraße
    Jahnstraße Kirchplatz Klosterhof Lerchenweg Lessingstraße Lindenweg Marktplatz Mozartstraße Mühlgasse Parkallee Poststraße Ringstraße Rosenweg Schillerstraße Schlossgasse Schulstraße Seestraße Südring Talstraße Turmgasse Uferweg Waldstraße Wiesenweg Ziegelweg""".split()
TOWNS = [("Lübeck", "0451", 23552, 18), ("Bad Schwartau", "0451", 23611, 1), ("Ratzeburg", "04541", 23909, 1), ("Mölln", "04542", 23879, 1), ("Eutin", "04521", 23701, 1), ("Grömitz", "04562", 23743, 1)]  # fmt: skip
MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
TITLES = ["Buddenbrooks", "Effi Briest", "Der Vorleser", "Momo", "Krabat", "Tschick", "Das Parfum", "Die Blechtrommel", "Faust", "Emil und die Detektive", "Ein ganzes Leben", "Der Trafikant"]  # fmt: skip
PLAIN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})
FIELDS = ["given_name", "surname", "born", "street", "postcode", "town", "phone", "email"]
GIVEN, SURNAME, BORN, STREET, POSTCODE, TOWN, PHONE, EMAIL = range(8)


class Draw(random.Random):
    """Nothing but random() is drawn from, since that alone is promised to be the same in all versions of Python."""

    def below(self, n):
        return int(self.random() * n)

    def often(self, share):
        return self.random() < share

    def one(self, values):
        return values[self.below(len(values))]

    def frequent(self, values):
        """The first ones more often."""
        return values[int(self.random() ** 1.3 * len(values))]


def address(draw):
    town, area, postcode, _ = draw.one([town for town in TOWNS for _ in range(town[3])])
    return [f"{draw.one(STREETS)} {1 + draw.below(60)}", str(postcode + (draw.below(9) if town == "Lübeck" else 0)), town, area]


def telephone(draw, area):
    return f"{area} {20000 + draw.below(780000)}" if draw.often(0.6) else f"01{draw.one('567')}{draw.below(10)} {1000000 + draw.below(9000000)}"


def household(draw, taken):
    """The people of one flat: lists of the fields, the date of birth as (year, month, day), the area of the telephone behind them."""
    *where, area = address(draw)
    surname, shared = draw.frequent(SURNAMES), telephone(draw, area)

    def person(given, surname, year, born=None):
        born = born or (year, 1 + draw.below(12), 1 + draw.below(28))
        phone = telephone(draw, area) if draw.often(0.3) else shared
        plain = [part.lower().translate(PLAIN).translate(str.maketrans("łşıćśžë", "lsicsze")) for part in (given, surname)]
        mail = draw.one([f"{plain[0]}.{plain[1]}", f"{plain[0][0]}.{plain[1]}{born[0] % 100}", f"{plain[1]}{draw.below(1000)}"])
        while mail in taken:
            mail = f"{mail}{draw.below(10)}"
        taken.add(mail)
        return [given, surname, born, *where, phone, f"{mail}@{draw.one(['mail', 'post', 'web'])}.example", area]

    year = 1935 + draw.below(50)
    if draw.often(0.45):
        return [person(draw.frequent(MEN if draw.often(0.5) else WOMEN), surname, year)]
    if draw.often(0.08):
        return [person(draw.frequent(MEN + WOMEN), draw.frequent(SURNAMES), year + 3 * flat) for flat in range(2)]
    first = person(draw.frequent(MEN), surname, year)
    people = [first, person(draw.frequent(WOMEN), surname if draw.often(0.8) else draw.frequent(SURNAMES), year + draw.below(8) - 4)]
    for child in range(draw.below(4)):
        given = first[GIVEN] if child == 0 and draw.often(0.08) else draw.frequent(MEN if draw.often(0.5) else WOMEN)
        people.append(person(given, surname, year + 22 + draw.below(14)))
        if draw.often(0.06):
            twin = draw.frequent([name for name in MEN + WOMEN if name != people[-1][GIVEN]])
            people.append(person(twin, surname, 0, people[-1][BORN]))
    return people


def misspelt(draw, value):
    at = 1 + draw.below(max(1, len(value) - 2))
    return draw.one([value[:at] + value[at + 1 :], value[: at + 1] + value[at:], value[:at] + value[at + 1 : at + 2] + value[at] + value[at + 2 :]])


def again(draw, person):
    """The record that another clerk makes of a reader."""
    record = person[:]
    if draw.often(0.12):
        *record[STREET : TOWN + 1], area = address(draw)
        if draw.often(0.5):
            record[PHONE] = telephone(draw, area)
    if draw.often(0.03):
        record[SURNAME] = draw.frequent(SURNAMES)
    if draw.often(0.03):
        record[GIVEN] = record[GIVEN][0] + "."
    year, month, day = record[BORN]
    if draw.often(0.06):
        record[BORN] = draw.one([(year + 10, month, day), (year, month, 1 + day % 28), (year, day, month) if day < 13 else (year - 1, month, day)])
    for field, share in ((GIVEN, 0.15), (SURNAME, 0.15), (STREET, 0.12), (TOWN, 0.05), (EMAIL, 0.05)):
        if draw.often(share):
            record[field] = misspelt(draw, record[field])
    if draw.often(0.03):
        record[GIVEN], record[SURNAME] = record[SURNAME], record[GIVEN]
    return record


def written(draw, record):
    """A record in the ways of one clerk, who leaves out what was not told."""
    record = record[:8]
    year, month, day = record[BORN]
    record[BORN] = draw.one([f"{day:02}.{month:02}.{year}", f"{day}.{month}.{year}", f"{year}-{month:02}-{day:02}", f"{day}. {MONTHS[month - 1]} {year}"])
    area, number = record[PHONE].split()
    record[PHONE] = draw.one([f"{area} {number}", f"{area}/{number}", f"+49 {area[1:]} {number}", f"+49 (0){area[1:]} {number[:3]} {number[3:]}"])
    if draw.often(0.15):
        record[:2] = [part.translate(PLAIN) for part in record[:2]]
    if draw.often(0.2):
        record[STREET] = record[STREET].replace("straße", "str.")
    if draw.often(0.04):
        record[SURNAME] = record[SURNAME].upper()
    for field, share in ((GIVEN, 0.005), (BORN, 0.04), (STREET, 0.02), (POSTCODE, 0.03), (TOWN, 0.02), (PHONE, 0.2), (EMAIL, 0.3)):
        if draw.often(share):
            record[field] = ""
    return record


def made(draw):
    """Records of the register and of the day, as (person, fields)."""
    people, records, taken = [], [], set()
    while len(records) < RECORDS:
        for person in household(draw, taken):
            people.append(person)
            for _ in range(1 + draw.often(0.13) + draw.often(0.02)):
                records.append((len(people), person))
    # The first record of a reader has no errors but those of writing, the others have.
    seen, register = set(), []
    for number, person in records[:RECORDS]:
        register.append((number, again(draw, person) if number in seen else person))
        seen.add(number)
    shuffled = sorted(register, key=lambda _: draw.random())
    day, known = [], [(number, person) for number, person in records if number % 7 == 0]
    while len(day) < DAY:
        if draw.often(0.15):
            number, person = draw.one(known)
            day.append((number, again(draw, person) if draw.often(0.7) else person))
        else:
            for person in household(draw, taken):
                people.append(person)
                day.append((len(people), person))
    return shuffled, day[:DAY]


def main():
    folder = Path(sys.argv[1])
    draw = Draw(20)
    register, day = made(draw)

    def write(name, header, rows):
        with open(folder / name, "w", encoding="utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(header)
            out.writerows(rows)

    header = ["number", *FIELDS]
    write("register.csv", header, ([1 + i, *written(draw, record)] for i, (_, record) in enumerate(register)))
    write("day.csv", header, ([1 + RECORDS + i, *written(draw, record)] for i, (_, record) in enumerate(day)))
    write("truth.csv", ["key", "cluster"], ([1 + i, person] for i, (person, _) in enumerate(register)))
    write("day_truth.csv", ["key", "cluster"], ([1 + RECORDS + i, person] for i, (person, _) in enumerate(day)))
    loans = ([1 + i, 1 + draw.below(RECORDS), f"2026-{1 + draw.below(10):02}-{1 + draw.below(28):02}", draw.one(TITLES)] for i in range(1500))
    write("loan.csv", ["number", "reader", "lent", "title"], loans)


if __name__ == "__main__":
    main()
