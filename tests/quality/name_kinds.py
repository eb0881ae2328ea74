#!/usr/bin/env python3
"""Makes tests/data/quality/name_kinds.csv.gz: pairs of names with a known truth, by the kind of what differs, half of each the same. The seed is fixed, so
the file comes out the same.

    python3 -m pip install rigour==1.3.0 anyascii==0.3.3 rapidfuzz==3.14.6
    python3 tests/quality/name_kinds.py

The kinds real_persons, real_companies and real_vessels are names as public sources write them, from tests/data/quality/name_aliases.txt. The others are
put together: spellings of one name from persons.txt of rigour (MIT), which has them from Wikidata (CC0), short forms from the lists of ident_name_forms,
legal forms and words of business of rigour. A pair that is not the same is what is mistaken in such lists: a relative, a namesake, a similar name, a company that
shares words of business, another number. Of name_aliases.txt every other line was looked at while ident_name_sim was made, of the other kinds none.
"""

import csv
import gzip
import io
import itertools
import pathlib
import random

import rigour
from anyascii import anyascii
from rapidfuzz.distance import JaroWinkler
from rigour.data.names import data, org_types

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "data" / "quality"
FORMS = ROOT / "core" / "text" / "src" / "names" / "forms"
PAIRS = 150
R = random.Random(20)
C = R.choice

LEGAL = [form.split("|") for form in """GmbH|Gesellschaft mit beschränkter Haftung|G.m.b.H.
AG|Aktiengesellschaft|A.G.
Ltd|Limited|Ltd.|Co., Ltd.|Company Limited
Inc|Incorporated|Inc.
LLC|L.L.C.|Limited Liability Company|ООО
S.A.|SA|Société Anonyme|Sociedad Anónima
Corp.|Corporation|Corp
SARL|S.à r.l.|S.A.R.L.
SpA|S.p.A.
BV|B.V.
Pvt. Ltd.|Private Limited
Sp. z o.o.|Spółka z o.o.
S.A. de C.V.|SA de CV
OAO|Open Joint Stock Company|PJSC""".splitlines()]
TRADE = """Trading Shipping Holding Energy Steel Logistics Capital Invest Bank Insurance Systems Technology Electronics Foods Media Services Consulting
International Global Marine Construction Mining Textile Pharma Chemical Motors Aviation Finance Partners Group Industries Solutions Metals Petroleum
Gas Oil Trust Development Engineering Transport Exchange Foundation""".split()
SHORTER = {"International": "Intl", "Technology": "Tech.", "Construction": "Constr.", "Engineering": "Eng.", "Services": "Svcs", "Development": "Dev.",
           "Industries": "Ind.", "Group": "Grp", "Electronics": "Electronic", "Systems": "System", "Holding": "Holdings", "Transport": "Transportation"}
SEA = """Ocean Star Pacific Atlantic Golden Silver Eagle Falcon Sea Wind Dream Spirit Glory Pride Queen King Lady Princess Northern Southern Eastern Western
Blue Red Black White Crystal Diamond Pearl Coral Dragon Tiger Lion Dolphin Horizon Sunrise Moon Sun Sky Harmony Victory Fortune Hope Faith Liberty
Unity Voyager Explorer Pioneer Navigator Trader Carrier Express Leader Neptune Apollo Athena Orion Sirius Aurora Baltic Caspian Arabian""".split()
PARTICLES = [p.split("|") for p in """van der |van de |vander |v.d. |van
de la |De La |dela |de
von |v. |Von |
al-|Al |el-|al |
bin |ibn |ben |
abd al-|Abdul |Abdel |Abd ul
dos |Dos |
O'|O |O’
Mac|Mc|Mac """.splitlines()]
RUSSIAN = "Ivan|Iwan Aleksandr|Alexander Sergei|Sergey Dmitri|Dmitry Mikhail|Michail Vladimir|Wladimir Nikolai|Nikolay Yuri|Juri Andrei|Andrey".split()
FATHERS = """Ivanovich|Iwanowitsch Aleksandrovich|Alexandrovich Sergeevich|Sergeyevich Nikolaevich|Nikolajewitsch Vladimirovich|Wladimirowitsch
Petrovich|Petrowitsch Mikhailovich|Michailowitsch Viktorovich|Victorovich Borisovich|Borissowitsch""".split()
NUMERALS = [n.split("|") for n in "Jr.|Junior|Jr Sr.|Senior|Sr II|2nd III|3rd IV|4th".split()]


def plain(name):
    return "".join(c for c in anyascii(name).lower() if c.isalnum())


def spellings():
    file = pathlib.Path(rigour.__file__).parent / "data" / "names" / "persons.txt"
    for line in file.read_text(encoding="utf-8").splitlines():
        names = [name.strip() for name in line.split(" => ")[0].split(",")]
        names = [name.title() for name in names if name and " " not in name and all(ord(c) < 0x250 for c in name)]
        if len(names) > 2:
            yield names


GROUPS = list(spellings())
SHORT = {}
for line in (FORMS / "nicknames-1.0.1.csv").read_text().splitlines()[1:]:
    full, _, short = line.split(",")
    SHORT.setdefault(full.title(), []).append(short.title())
for line in (FORMS / "own-1.txt").read_text().splitlines()[1:]:
    if ": " in line:
        full, short = line.split(": ")
        SHORT.setdefault(full.title(), []).extend(short.title().split())
GIVEN = sorted(name for name in SHORT if len(name) > 3)
MEANINGS = [[w for w in words if " " not in w and len(w) > 3 and all(ord(c) < 0x250 for c in w)] for words in data.ORG_SYMBOLS.values()]
MEANINGS = [words for words in MEANINGS if len(words) > 5]
TYPES = [[a for a in kind["aliases"] if all(ord(c) < 0x250 for c in a)] for kind in org_types.ORG_TYPES if kind.get("generic") in ("LLC", "JSC", "LP", "GP")]
TYPES = [names for names in TYPES if len(names) > 2]


def near(name, names):
    """A similar name that is another one."""
    return max(R.sample(names, min(150, len(names))), key=lambda n: JaroWinkler.similarity(plain(n), plain(name)) if plain(n) != plain(name) else 0)


def surname():
    return C(C(GROUPS))


SURNAMES = [C(group) for group in GROUPS]


def order(given, last):
    return C([f"{given} {last}"] * 4 + [f"{last}, {given}", f"{last.upper()}, {given}", f"{last} {given}"])


def error(word):
    if len(word) < 4:
        return word
    i = R.randrange(1, len(word) - 1)
    return C([word[:i] + word[i + 1 :], word[:i] + word[i + 1] + word[i] + word[i + 2 :], word[:i] + C("aeioulnrst") + word[i + 1 :], word[:i] + word[i] + word[i:]])


def transliteration():
    given, last = C(GROUPS), C(GROUPS)
    one = order(C(given), C(last))
    other = order(C(given), near(last[0], SURNAMES)) if R.random() < 0.5 else order(near(given[0], SURNAMES), C(last))
    return one, order(C(given), C(last)), other


def initials():
    a, b, last = C(GIVEN), C(GIVEN), surname()
    letter = C([c for c in "ABCDEFGHJKLMNPRSTW" if c != a[0]])
    same = C([f"{a[0]}. {b[0]}.", f"{a} {b[0]}.", f"{a[0]}.", f"{a[0]}{b[0]}"])
    other = C([order(f"{letter}. {b[0]}.", last), order(f"{letter}.", last), order(f"{a[0]}.", near(last, SURNAMES))])
    return order(f"{a} {b}", last), order(same, last), other


def middle_names():
    a, b, last = C(GIVEN), C(GIVEN), surname()
    other = C([order(f"{near(a, GIVEN)} {b}", last), order(f"{a} {b}", near(last, SURNAMES)), order(near(a, GIVEN), last)])
    return order(f"{a} {b}", last), order(C([a, a, b]), last), other


def typing_errors():
    a, last = C(GIVEN), surname()
    other = order(a, near(last, SURNAMES)) if R.random() < 0.5 else order(near(a, GIVEN), last)
    return f"{a} {last}", order(error(a) if R.random() < 0.4 else a, error(last)), other


def relatives():
    a, last = C(GIVEN), surname()
    return order(a, last), order(a, error(last)), order(C([n for n in GIVEN if n != a]), last)


def patronymics():
    given, father, last = C(RUSSIAN), C(FATHERS), C([g for g in R.sample(GROUPS, 300) if g[0].lower().endswith(("ov", "ev", "in", "sky", "enko", "ow"))])
    one = order(f"{C(given.split('|'))} {C(father.split('|'))}", C(last))
    brother, uncle = C([g for g in RUSSIAN if g != given]), C([f for f in FATHERS if f != father])
    other = C([order(f"{C(brother.split('|'))} {C(father.split('|'))}", C(last)), order(f"{C(given.split('|'))} {C(uncle.split('|'))}", C(last))])
    return one, order(C(given.split("|")), C(last)), other


def particles():
    given, last, particle = C(GROUPS), surname(), C(PARTICLES)
    other = order(given[0], C(particle) + near(last, SURNAMES)) if R.random() < 0.5 else order(near(given[0], SURNAMES), C(particle) + last)
    return order(C(given), C(particle) + last), order(C(given), C(particle) + last), other


def double_surnames():
    a, b, one, two, three = C(GIVEN), C(GIVEN), surname(), surname(), surname()
    same = C([f"{a} {one}", f"{one} {two}, {a}", f"{a} {one}-{two}", f"{a} {b} {one} {two}", f"{a} {one} y {two}", f"{a} {one}{two.lower()}", f"{one.upper()} {two.upper()}, {a[0]}."])
    return f"{a} {one} {two}", same, C([f"{a} {one} {three}", f"{a} {three} {two}", f"{b} {one} {two}", f"{a} {three}"])


def short_forms():
    full, last = C(GIVEN), surname()
    other = order(C([n for n in GIVEN if n != full]), last) if R.random() < 0.5 else order(C(SHORT[full]), near(last, SURNAMES))
    return f"{full} {last}", order(C(SHORT[full]), last), other


def father_and_son():
    a, b, last = C(GIVEN), C(GIVEN), surname()
    one, two = R.sample(NUMERALS, 2)
    return f"{a} {last} {C(one)}", C([f"{a} {b[0]}. {last} {C(one)}", f"{a} {error(last)}, {C(one)}"]), f"{a} {last} {C(two)}"


def written_in_one():
    a, b, last = C(GIVEN), C(GIVEN), surname()
    same = C([f"{a}{b.lower()} {last}", f"{last}, {a} {b}", f"{a}{b.lower()} {error(last)}", f"{a[0]}.-{b[0]}. {last}"])
    return f"{a}-{b} {last}", same, C([f"{a}{near(b, GIVEN).lower()} {last}", f"{a} {b} {near(last, SURNAMES)}"])


def legal_forms():
    word, form, trade = C([surname(), C(SEA), f"{surname()} {C(SEA)}"]), C([C(LEGAL), C(TYPES)]), R.sample(TRADE, C((1, 1, 2)))
    shorter = [SHORTER.get(t, t) if R.random() < 0.4 else t for t in trade]
    words = [error(w) if R.random() < 0.12 else w for w in word.split()]
    same = " ".join([*words, *shorter, *([C(form)] if R.random() < 0.6 else [])])
    if R.random() < 0.5:
        other = " ".join([near(word, SURNAMES), *trade, C(form)])
    else:
        other = " ".join([word, C([t for t in TRADE if t not in trade]), *trade[1:], C(form)])
    return " ".join([word, *trade, C(form)]), same, other


def companies_in_one():
    word, sea, trade, form = surname(), C(SEA), C(TRADE), C(LEGAL)
    return f"{word} {sea} {trade} {C(form)}", f"{word}{sea.lower()} {trade} {C(form)}", f"{word} {C([s for s in SEA if s != sea])} {trade} {C(form)}"


def acronyms():
    words = [C(SEA), *R.sample(TRADE, C((2, 2, 3)))]
    others = [C(SEA), *R.sample(TRADE, len(words) - 1)]
    letters = "".join(word[0] for word in words)
    return " ".join(words) + C(["", " Ltd", " Co."]), C([letters, letters + " Ltd", " ".join(words[:2])]), C(["".join(w[0] for w in others), " ".join([others[0], *words[1:]])])


def languages():
    word, form = surname(), C(LEGAL)
    one, two = R.sample(MEANINGS, 2)
    return f"{word} {C(one).title()} {C(form)}", f"{word} {C(one).title()}", C([f"{word} {C(two).title()} {C(form)}", f"{surname()} {C(one).title()} {C(form)}"])


def vessels():
    def kind():
        return C(["", "", "M/V ", "MV ", "MT "])

    name, number = C([" ".join(R.sample(SEA, 2)), f"{surname()} {C(SEA)}", surname()]), C(["", " 1", " 2", " 7", " II", " III", " 12"])
    roman = {" 1": " I", " 2": " II", " 7": " VII", " II": " 2", " III": " 3", " 12": " XII"}
    same = kind() + C([name, name.replace(" ", ""), " ".join(error(w) for w in name.split())]) + C([number, roman.get(number, number)])
    words = name.split()
    words[R.randrange(len(words))] = C(SEA)
    changed = " ".join(words) + number
    if number and R.random() < 0.5:
        changed = name + C([n for n in roman if n != number and roman[n] != number])
    return kind() + name + number, same, kind() + changed


KINDS = [transliteration, initials, middle_names, typing_errors, relatives, patronymics, particles, double_surnames, short_forms, father_and_son, written_in_one,
         legal_forms, companies_in_one, acronyms, languages, vessels]  # fmt: skip


def real():
    """Aliases: all pairs of a line are the same. Pairs that are not, and the nearest names of other lines."""
    kinds = {}
    for line in (FOLDER / "name_aliases.txt").read_text(encoding="utf-8").splitlines()[1:]:
        kind, *names = line.split("|")
        kinds.setdefault(kind, []).append(names)
    for kind in ("persons", "companies", "vessels"):
        for names in kinds[kind]:
            for a, b in itertools.combinations(names, 2):
                yield f"real_{kind}", a, b, True
            one = names[0]
            others = [name for other in kinds[kind] if other is not names for name in other]
            key = lambda name: " ".join(sorted(anyascii(name).lower().split()))
            yield f"real_{kind}", one, max(others, key=lambda other: JaroWinkler.similarity(key(one), key(other))), False
        for a, b in kinds[f"other_{kind}"]:
            yield f"real_{kind}", a, b, False


rows = []
for make in KINDS:
    for _ in range(PAIRS):
        one, same, other = make()
        same = same.upper() if R.random() < 0.2 else same
        if one != same and plain(one) != plain(other):
            rows += [(make.__name__, one, same, "t"), (make.__name__, one, other, "f")]
rows += [(kind, a, b, "t" if same else "f") for kind, a, b, same in real()]
text = io.StringIO()
writer = csv.writer(text, lineterminator="\n")
writer.writerow(["set", "a", "b", "same"])
writer.writerows(rows)
(FOLDER / "name_kinds.csv.gz").write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))
print(len(rows), "pairs")
