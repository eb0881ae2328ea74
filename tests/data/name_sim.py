#!/usr/bin/env python3
"""Computes tests/data/name_sim.json: pairs of names and their similarity by version 1 of the rules, as docs/names.md says them, with scipy 1.17.1 for
the best assignment of words. The lists are those of core/text/src/names/similarity. The names are normal already: a to z, 0 to 9 and spaces.

    python3 -m pip install scipy==1.17.1
    python3 tests/data/name_sim.py
"""
import json
import pathlib
import random

import numpy
from scipy.optimize import linear_sum_assignment

FILE = pathlib.Path(__file__).with_name("name_sim.json")
LISTS = pathlib.Path(__file__).parents[2] / "core" / "text" / "src" / "names"


def lines(file):
    return (LISTS / file).read_text().splitlines()[1:]


FORMS = set(lines("similarity/legal_forms-1.txt"))
FIRST = {form.split()[0] for form in FORMS}
MEANING = {word: n for n, line in enumerate(lines("similarity/business_words-1.txt")) for word in line.split()}
COSTS = [[int(cost) for cost in line.split()] for line in lines("similarity/letters-1.txt")]
FULL = {}
for line in lines("forms/nicknames-1.0.1.csv"):
    name, _, form = line.split(",")
    FULL.setdefault(form.replace(".", ""), set()).add(name)
for line in lines("forms/own-1.txt"):
    if ": " in line:
        name, forms = line.split(": ")
        for form in forms.split():
            FULL.setdefault(form, set()).add(name)
LIGHT = set("""von vom van der den dem de del della delle dello degli dei di da do dos das du des la las los le zu zum zur ten ter te op het bin ibn bn
ben bint binti al el ul ad ar as ash at az an abu abou the and und et of for fuer vd ould mr mrs ms miss sir dame lady lord rev hon herr frau dr prof
professor doktor doctor dipl ing mag sheikh shaykh shaikh sheik sayyid sayed haji hajji mullah mulla maulana ayatollah capt gen col freiherr graf
baron saint st san santa mv mt ss""".split())
IN_FRONT = set("ooo oao zao pao ao jsc ojsc pjsc cjsc pt tov too nao uab".split())
ROMAN = "ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx xxi xxii xxiii".split()
NUMBERS = {word: n for n, word in enumerate(ROMAN, 2)} | {"2nd": 2, "second": 2, "3rd": 3, "third": 3, "4th": 4}
GENERATIONS = {"jr": 1, "junior": 1, "jnr": 1, "sr": 2, "senior": 2, "snr": 2}
ARTICLES = {"al", "el", "ul", "ar", "as", "ur", "er"}
VOWELS = set("aeiou")


def letter(c):
    return ord(c) - ord("a") if c.isalpha() else None


def more(word):
    costs = [100 if letter(c) is None else COSTS[0][letter(c)] for c in word]
    return [min(cost, 20) if i and word[i] == word[i - 1] else cost for i, cost in enumerate(costs)]


def other(a, b):
    if a == b:
        return 0
    i, j = letter(a), letter(b)
    return 100 if i is None or j is None else COSTS[max(i, j)][min(i, j)]


def alike(a, b):
    more_a, more_b = more(a), more(b)
    cost = numpy.full((len(a) + 1, len(b) + 1), 1 << 30)
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            ways = [0] if i == j == 0 else []
            if i:
                ways.append(cost[i - 1, j] + more_a[i - 1])
            if j:
                ways.append(cost[i, j - 1] + more_b[j - 1])
            if i and j:
                ways.append(cost[i - 1, j - 1] + other(a[i - 1], b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                ways.append(cost[i - 2, j - 2] + 80)
            cost[i, j] = min(ways)
    return max(0, 1 - int(cost[-1, -1]) / 100 * 2 / (len(a) + len(b)))


def bare(word):
    return word[0] + "".join(c for c in word[1:] if c not in VOWELS)


def word_similarity(a, b):
    if a == b:
        return 1
    if 1 in (len(a), len(b)):
        return 0.88 if a[0] == b[0] else 0
    found = [alike(a, b)]
    if a in MEANING and MEANING[a] == MEANING.get(b):
        found.append(0.95)
    if (FULL.get(a, set()) | {a}) & (FULL.get(b, set()) | {b}):
        found.append(0.9)
    short, long = sorted((a, b), key=len)
    if len(long) >= len(short) + 2 and long.startswith(short):
        found.append(0.72 if len(short) < 5 else 0.86)
    silent = [not VOWELS & set(word) for word in (a, b)]
    if silent == [True, False]:
        found.append(0.92 * alike(a, bare(b)))
    if silent == [False, True]:
        found.append(0.92 * alike(bare(a), b))
    return max(found)


def legal_form(words, at):
    """How many words from there on are a legal form."""
    if len(words[at]) > 1 and words[at] not in FIRST or at and len(words[at]) == len(words[at - 1]) == 1:
        return 0
    for n in range(min(8, len(words) - at), 0, -1):
        end = at + n
        if n == len(words) or len(words[end - 1]) == 1 and end < len(words) and len(words[end]) == 1:
            continue
        key = words[at]
        for before, word in zip(words[at:], words[at + 1 : end]):
            key += word if len(before) == len(word) == 1 else " " + word
        if key in FORMS and (at or " " in key or key in IN_FRONT):
            return n
    return 0


class Name:
    def __init__(self, text):
        self.all = text.split()[:32]
        rest, at = [], 0
        while at < len(self.all):
            n = legal_form(self.all, at)
            if not n:
                rest.append(self.all[at])
            at += n or 1
        rest = rest or self.all
        if len(rest) > 2 and (rest[0], rest[1]) in {("m", "v"), ("m", "t"), ("m", "s"), ("s", "s")}:
            rest = rest[2:]
        self.words, self.numbers, self.generation, light = [], [], None, []
        skip = False
        for i, word in enumerate(rest):
            last = i + 1 == len(rest)
            if skip:
                skip = False
            elif word.isdigit():
                self.numbers.append(int(word))
            elif word in ("first", "1st"):
                self.numbers.append(1)
            elif i and word in NUMBERS and (last or len(word) > 1):
                self.numbers.append(NUMBERS[word])
            elif i and word in GENERATIONS:
                self.generation = GENERATIONS[word]
            elif word in LIGHT and len(rest) > 1 or word in ("y", "e", "i") and 1 < i and not last:
                light.append(word)
            elif word == "abd" and not last and rest[i + 1] in ARTICLES:
                self.words.append("abdul")
                skip = True
            else:
                self.words.append(word)
        if not self.words and not self.numbers:
            self.words = light
        self.numbers.sort()

    def is_acronym_of(self, of):
        own = [word for word in self.words if word not in MEANING]
        if len(own) != 1 or len(of.words) < 2 or not 2 <= len(own[0]) <= 6:
            return False
        initials = ["".join(word[0] for word in words) for words in (of.words, of.all)]
        if len(own[0]) == 2:
            return len(of.words) == 2 and own[0] in initials
        return any(one.startswith(own[0]) for one in initials)


def split_initials(a, b):
    if len(a) < 2 or any(len(word) == 1 for word in b):
        return
    initials = "".join(word[0] for word in b)
    for i, word in enumerate(a):
        if len(word) in (2, 3) and word in initials and all(alike(word, one) < 0.7 for one in b):
            a[i : i + 1] = word
            return


def in_one(a, b):
    for n in (3, 2):
        for i in range(len(a) - n + 1):
            words = a[i : i + n]
            one = "".join(words)
            near = [word for word in b if len(word) > 1 and abs(len(word) - len(one)) <= 3 and (word[0] == one[0] or word[-1] == one[-1])]
            if not 3 <= len(one) <= 32 or not near:
                continue
            best = max(alike(one, word) for word in near)
            alone = [word_similarity(x, y) for x in words if len(x) > 1 for y in b]
            if best >= 0.85 and best > max(alone, default=0):
                a[i : i + n] = [one]
                return True
    return False


def join(a, b):
    a = list(a)
    split_initials(a, b)
    while in_one(a, b):
        pass
    return a


def weight(word):
    length = 0.3 if len(word) == 1 else 0.4 + 0.6 * min(len(word), 8) / 8
    return length * (0.7 if word in MEANING else 1)


def by_word(a, b):
    x = join(a.words, b.words)
    y = join(b.words, x)
    x, y = sorted((sorted(x), sorted(y)), key=lambda words: (len(words), words))
    similar = numpy.array([[word_similarity(v, w) for w in y] for v in x], float)
    weights = numpy.array([[weight(v) + weight(w) for w in y] for v in x])
    good = numpy.maximum((similar - 0.4) / 0.6, 0)
    rows, columns = linear_sum_assignment((good + 0.001 * (similar + 0.01)) * weights, maximize=True)
    mean = (good * weights)[rows, columns].sum() / weights[rows, columns].sum()
    worst = max((similar[rows, columns].min() - 0.5) / 0.5, 0)
    left = sum(weight(word) for j, word in enumerate(y) if j not in columns) / sum(map(weight, y))
    return (0.3 * mean + 0.7 * worst) * (1 - 0.2 * left)


def similarity(text_a, text_b):
    a, b = sorted((Name(text_a), Name(text_b)), key=lambda name: (len(name.all), name.all))
    if not a.all:
        return 0
    if "".join(a.all) == "".join(b.all) and a.numbers == b.numbers:
        found = 1.0
    elif a.words and b.words:
        found = by_word(a, b)
    else:
        found = float(not a.words and not b.words and a.numbers == b.numbers)
    if a.is_acronym_of(b) or b.is_acronym_of(a):
        found = max(found, 0.85)
    if a.generation and b.generation:
        differ = a.generation != b.generation
    else:
        differ = bool(a.generation and b.numbers or b.generation and a.numbers)
    if differ:
        return found * 0.4
    if a.generation != b.generation:
        found *= 0.8
    if a.numbers != b.numbers:
        found *= 0.4 if a.numbers and b.numbers else 0.8
    return found


PAIRS = """erika mustermann|mustermann erika
erika mustermann|erika anna mustermann
erika mustermann|erica musterman
erika mustermann|e mustermann
hans peter schmidt|schmitt hanspeter
siemens aktiengesellschaft|siemens ag
siemensag|siemens ag
volkswagen aktiengesellschaft|siemens aktiengesellschaft
mohammed abd al rahman|muhammad abdurrahman
vladimir vladimirovich putin|wladimir putin
aa ab|ab ac
aa ab ac|ac ad
a|b
a|a b c d e f g h i j
jp morgan chase and co|jpmorgan chase
erika mustermann gmbh|mustermann limited liability company
g m b h|gmbh
john f kennedy jr|john kennedy sr
john kennedy ii|john kennedy
jr smith|john robert smith
m v ocean star 2|oceanstar ii
ibm|international business machines corp
abd al rahman yasin|abdurrahman yassin
muhammad|mhmd
bill clinton|william jefferson clinton
first bank|1st bank
bank|banco
12|13
12 a|12"""

WORDS = """anna maria hans peter schmidt schmitt meier mayer maria ivanov ivanow mohammed muhammad al rahman van der berg de la
cruz trading holding gmbh ag ltd limited international bank first national o brien li wang zhang aa ab ba abab baba 1 21 2021 ii jr g m b h s a abd el y bill william jean pierre jeanpierre mv star intl the""".split()


def pairs():
    for pair in PAIRS.splitlines():
        yield pair.split("|")
    random_ = random.Random(16)
    for _ in range(300):
        yield [" ".join(random_.choices(WORDS, k=random_.randint(1, 6))) for _ in "ab"]
    for _ in range(10):
        yield [" ".join(random_.choices(WORDS, k=random_.randint(20, 32))) for _ in "ab"]


cases = [{"a": a, "b": b, "similarity": similarity(a, b)} for a, b in pairs()]
FILE.write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
print(f"{len(cases)} pairs")
