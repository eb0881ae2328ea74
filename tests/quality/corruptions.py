"""The kinds of corruption that people.py --explain names: each goes wrong in one way only, in one field of a record.

A kind is a function of a random number generator and a person, whose fields it changes; it says False where there is nothing to change, and
another person is taken. The rules of spelling, the nicknames and the abbreviations are of this file: they know nothing of the dictionaries
of the extension.
"""

import re
from datetime import date, timedelta

GIVEN, SURNAME, DOB, STREET, CITY, POSTCODE, PHONE, EMAIL = range(8)

# Names with what goes wrong in German: umlauts, and letters of one sound.
STEMS = """Bäck Bäum Böhm Böttch Brück Büch Dörf Döring Fähr Först Fürst Gärtn Göbel Göhr Grün Günth Häusl Höff Hübn Jäg Käst Kästn Köhl
Köst Kräm Krüg Kühn Küst Löff Löw Mähl Möll Mörs Müll Nägel Nöll Österm Pfänd Pöhl Pütz Räd Röd Röth Rüd Säng Schäf Schlüt Schön Schröd
Schütz Spät Städ Stürm Süß Täub Töpf Türk Vögel Wähn Wölf Würf Zöll Zürn Weiß Groß Meiß Baum Beck Berg Brand Braun Busch Diet Ditt Eich
Eisen Feld Fink Frey Fried Gaß Hack Hahn Heil Hein Kauf Keil Kirch Kraft Kranz Kreuz Lang Lein Lind Meist Mey Neu Oppel Philipp Rein Reut Roth
Sand Schick Schmidt Schwarz Seid Stahl Steck Stein Thal Vieht Vogt Wald Wein Witz Zeis Zieg""".split()
TAILS = ["er", "mann", "el", "ner", "ing", "", "hoff", "meier", "bach", "ke"]
NICKNAMES = {
    "Josef": "Sepp", "Johannes": "Hans", "Maximilian": "Max", "Friedrich": "Fritz", "Heinrich": "Heinz", "Wilhelm": "Willi", "Alexander": "Sascha",
    "Sebastian": "Basti", "Michael": "Michi", "Johanna": "Hanna", "Elisabeth": "Lisa", "Katharina": "Kathi", "Ursula": "Uschi", "Margarete": "Grete",
    "Susanne": "Susi", "Christina": "Tina", "Angelika": "Geli", "Gabriele": "Gabi", "Barbara": "Babsi", "Franziska": "Franzi", "Theodor": "Theo",
    "Ludwig": "Lutz", "Matthias": "Matze", "Andreas": "Andi", "Stefanie": "Steffi", "Magdalena": "Leni", "Anneliese": "Anne", "Rudolf": "Rudi",
    "Josefine": "Pepi", "Dorothea": "Thea", "Benjamin": "Ben", "Thomas": "Tom", "Christoph": "Chris", "Robert": "Bob", "Richard": "Dick",
    "William": "Bill", "Edward": "Ted", "Elizabeth": "Betty", "Margaret": "Peggy", "Katherine": "Kate", "Rebecca": "Becky", "James": "Jim",
}  # fmt: skip
GIVEN_NAMES = [*NICKNAMES, *"""Jürgen Günter Jörg Björn Sören Götz Käthe Bärbel Anna Clara Lena Ida Paula Emma Greta Sofia Otto Karl Felix Jonas David Simon
Martin Peter Stefan Ralf Sven Torsten Uwe Volker Werner Frank Dieter Bernd Astrid Birgit Claudia Doris Heike Ilse Jutta Karin Monika Petra Renate Sabine
Silke Ulrike Vera Philipp Theresa""".split()]  # fmt: skip
STREET_ENDS = ["straße", "straße", "straße", "weg", "platz", "gasse", "allee", " Straße"]
AREAS = ["30", "40", "89", "69", "221", "711", "351", "201", "911", "511"]
HOSTS = ["gmail.com", "gmail.com", "web.de", "gmx.de", "yahoo.com", "t-online.de", "mail.example", "post.example", "work.example", "uni.example"]
SOUNDS = """ph:f f:v v:f w:v th:t dt:t tz:z ck:k k:ck ei:ai ai:ei ei:ey ey:ei ey:ay y:i ie:i i:ie c:k k:c chs:x mm:m nn:n n:nn ll:l l:ll tt:t ff:f f:ff
ah:a eh:e oh:o uh:u d:t äu:eu eu:äu ß:ss sch:sh ä:e z:tz""".split()  # fmt: skip
KEYS = dict(zip("abcdefghijklmnopqrstuvwxyzäöüß", "snvfrgfhujnkjmipwtdzicexyuölüp"))
UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ö": "Oe"}
BARE = {"ä": "a", "ö": "o", "ü": "u", "ß": "s", "Ö": "O"}


def plain(word):
    return re.sub("[^a-z]", "", "".join(UMLAUTS.get(c, c) for c in word).lower())


def german(rng, world):
    """A person of its own household, whose street, telephone and e-mail address are as they are written in Germany."""
    given = rng.choice(GIVEN_NAMES) if rng.random() < 0.7 else world.given(rng).title()
    surname = rng.choice(STEMS) + rng.choice(TAILS) if rng.random() < 0.7 else world.surname(rng).title()
    born = date(1935, 1, 1) + timedelta(days=rng.randrange(26000))
    of = rng.choice(STEMS) + rng.choice(("", "er", "en", "s"))
    street = f"{of}{rng.choice(STREET_ENDS)} {int(rng.expovariate(1 / 40)) + 1}"
    town, codes, _ = world.town(rng)
    if rng.random() < 0.5:
        phone = f"+49 17{rng.choice('012356789')} {rng.randrange(2000000, 9999999)}"
    else:
        phone = f"+49 {rng.choice(AREAS)} {rng.randrange(2000000, 9999999)}"
    return [given, surname, born.isoformat(), street, town.title(), rng.choice(codes), phone, address(rng, given, surname)]


def address(rng, given, surname):
    given, surname = plain(given), plain(surname)
    digits = str(rng.randrange(1, 1000)) if rng.random() < 0.6 else ""
    local = rng.choice((f"{given}.{surname}", f"{given[:1]}.{surname}", f"{given}{surname}", f"{surname}_{given}", f"{surname}.{given[:1]}"))
    return f"{local}{digits}@{rng.choice(HOSTS)}"


def typing(rng, text):
    """A letter is left out, typed twice, typed beside its key, or changes places with the next one."""
    places = [i for i, c in enumerate(text) if c.isalpha()]
    i = rng.choice(places)
    kind, c = rng.randrange(4), text[i]
    if kind == 0:
        return text[:i] + text[i + 1 :]
    if kind == 1:
        return text[: i + 1] + c.lower() + text[i + 1 :]
    if kind == 2 and i + 1 < len(text) and text[i + 1].isalpha() and text[i + 1].lower() != c.lower():
        return text[:i] + text[i + 1] + c + text[i + 2 :]
    return text[:i] + KEYS.get(c.lower(), "x") + text[i + 1 :]


def digit(rng, text):
    """A digit is another one, or changes places with the next one."""
    places = [i for i, c in enumerate(text) if c.isdigit()]
    i = rng.choice(places[1:])
    if rng.random() < 0.4 and i + 1 < len(text) and text[i + 1].isdigit() and text[i + 1] != text[i]:
        return text[:i] + text[i + 1] + text[i] + text[i + 2 :]
    return text[:i] + str((int(text[i]) + rng.randrange(1, 10)) % 10) + text[i + 1 :]


def by_ear(rng, text):
    low = text.lower()
    rules = [rule.split(":") for rule in SOUNDS if rule.split(":")[0] in low]
    if not rules:
        return text
    old, new = rng.choice(rules)
    i = low.index(old)
    changed = text[:i] + new + text[i + len(old) :]
    return changed[0].upper() + changed[1:]


def abbreviated(rng, street):
    for word, forms in (("straße", ("str.", "str", "strasse")), ("Straße", ("Str.", "Str", "Strasse")), ("platz", ("pl.",)), ("weg", ("w.",)), ("gasse", ("g.",)), ("allee", ("all.",))):
        if word in street:
            return street.replace(word, rng.choice(forms))
    return street


def dated(rng, born, kind):
    year, month, day = born.split("-")
    if kind == "swap":
        return f"{year}-{day}-{month}" if int(day) < 13 and day != month else born
    if kind == "year":
        return f"{int(year) + rng.choice((-1, 1))}-{month}-{day}"
    if kind == "format":
        return rng.choice((f"{day}.{month}.{year}", f"{day}.{month}.{year[2:]}", f"{int(day)}. {MONTHS[int(month) - 1]} {year}"))
    wrong = digit(rng, born)
    try:
        date.fromisoformat(wrong)
    except ValueError:
        return born
    return wrong


MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()


def dialled(rng, phone):
    """The same number as others write it."""
    area, number = phone[4:].split(" ")
    return rng.choice((f"0{area}/{number}", f"(0{area}) {number[:3]} {number[3:]}", f"0049{area}{number}", f"0{area}{number}", f"+49 (0){area} {number[:4]}-{number[4:]}", f"0{area} {number[:2]} {number[2:4]} {number[4:]}"))


def provider(rng, email):
    local, host = email.split("@")
    return f"{local}@{rng.choice([h for h in HOSTS if h != host])}"


def tagged(rng, email):
    """What reaches the same mailbox of Gmail."""
    local, host = email.split("@")
    if host != "gmail.com" or local[1] == ".":
        return email
    return rng.choice((f"{local}+shop@gmail.com", f"{local.replace('.', '')}@googlemail.com", f"{local.title()}@GMail.com", f"{local[:1]}.{local[1:]}@gmail.com"))


def new_digits(rng, email):
    return re.sub("[0-9]*@", f"{rng.randrange(1, 1000)}@", provider(rng, email))


def field(index, change):
    """A kind that changes one field by change(rng, value)."""

    def apply(rng, world, person):
        old = person[index]
        person[index] = change(rng, old)
        return person[index] != old

    return apply


def swapped(rng, world, person):
    person[GIVEN], person[SURNAME] = person[SURNAME], person[GIVEN]
    return person[GIVEN] != person[SURNAME]


def missing(number):
    def apply(rng, world, person):
        for index in rng.sample((GIVEN, DOB, STREET, POSTCODE, PHONE, EMAIL), number):
            person[index] = ""
        return True

    return apply


def moved(rng, world, person):
    person[STREET : PHONE + 1] = german(rng, world)[STREET : PHONE + 1]
    return True


def married(rng, world, person):
    return field(SURNAME, lambda rng, _: german(rng, world)[SURNAME])(rng, world, person)


def letters(table):
    return lambda _, text: "".join(table.get(c, c) for c in text)


# The field by which a kind is looked for: a column, "name" for given name and surname together, or "record" for all.
KINDS = {
    "typing error in the surname": ("surname", field(SURNAME, typing)),
    "two typing errors in the name": ("name", lambda r, w, p: field(SURNAME, typing)(r, w, p) and field(GIVEN, typing)(r, w, p)),
    "phonetic misspelling": ("surname", field(SURNAME, by_ear)),
    "umlaut as ae, oe, ue, ss": ("surname", field(SURNAME, letters(UMLAUTS))),
    "umlaut without its dots": ("surname", field(SURNAME, letters(BARE))),
    "nickname": ("given_name", field(GIVEN, lambda _, given: NICKNAMES.get(given, given))),
    "initial for the given name": ("name", field(GIVEN, lambda _, given: given[:1] + ".")),
    "second given name": ("name", field(GIVEN, lambda rng, given: f"{given} {rng.choice(GIVEN_NAMES)}")),
    "title": ("name", field(GIVEN, lambda rng, given: f"{rng.choice(('Dr.', 'Prof. Dr.', 'Herr', 'Frau', 'Dipl.-Ing.'))} {given}")),
    "swapped names": ("name", swapped),
    "wrong digit in the date": ("dob", field(DOB, lambda rng, born: dated(rng, born, "digit"))),
    "day and month swapped": ("dob", field(DOB, lambda rng, born: dated(rng, born, "swap"))),
    "year one off": ("dob", field(DOB, lambda rng, born: dated(rng, born, "year"))),
    "date in another format": ("dob", field(DOB, lambda rng, born: dated(rng, born, "format"))),
    "abbreviation in the street": ("street", field(STREET, abbreviated)),
    "typing error in the street": ("street", field(STREET, typing)),
    "telephone in another format": ("phone", field(PHONE, dialled)),
    "wrong digit in the telephone": ("phone", field(PHONE, digit)),
    "another e-mail provider": ("email", field(EMAIL, provider)),
    "e-mail with other digits and provider": ("email", field(EMAIL, new_digits)),
    "tag or dots in the e-mail": ("email", field(EMAIL, tagged)),
    "typing error in the e-mail": ("email", field(EMAIL, lambda rng, email: typing(rng, email.split("@")[0]) + "@" + email.split("@")[1])),
    "missing field": ("record", missing(1)),
    "three missing fields": ("record", missing(3)),
    "moved": ("record", moved),
    "married": ("record", married),
}  # fmt: skip


def explained(records, rng, world):
    """Pairs of a record and the same one with a corruption: entity, the columns' values, and kind and field, which are empty for the first."""
    made = []
    names = list(KINDS)
    while len(made) < records:
        name = names[len(made) // 2 % len(names)]
        of, corrupt = KINDS[name]
        person = german(rng, world)
        other = person[:]
        if corrupt(rng, world, other):
            entity = f"e{len(made) // 2 + 1}"
            made += [[entity, *person, "", ""], [entity, *other, name, of]]
    return made
