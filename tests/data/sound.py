#!/usr/bin/env python3
"""Computes tests/data/sound.json: codes of sound by packages of PyPI, of words that are normal forms already.

    python3 -m pip install jellyfish==1.3.0 abydos==0.5.0 cologne-phonetics==2.0.0 numpy
    python3 tests/data/sound.py

Of each algorithm the first package named below is taken, in the length that the extension gives. Those without a package that follows the
publication are left out: Beider-Morse of abydos has the rules of version 3.4 for each language, where the crate's that are compiled in are those for any language.
"""

import json
import pathlib

import cologne_phonetics
import jellyfish
from abydos.phonetic import Caverphone, DaitchMokotoff, DoubleMetaphone

FILE = pathlib.Path(__file__).with_name("sound.json")

WORDS = """mustermann mueller muller miller meier maier mayer meyer schmidt schmitt smith smyth schwarzenegger schwarz thompson thomson
katherine catherine kathryn robert rupert rubin ashcraft ashcroft tymczak pfister honeyman gutierrez jackson washington lee
peters peterson moskowitz moskovitz auerbach uhrbach ohrbach lewinsky levinski szlamawicz shlamovitz jones johnson jonson
wright write knight night phone fone philip filip xavier zhang zhou chen czerny cerny wikipedia breschnew lichtenstein
garcia gonzalez fernandez lopez sanchez perez martin martinez rossi russo ferrari esposito bianchi dubois lefebvre moreau
ivanov ivanow petrov petroff kuznetsov sokolov nowak kowalski kowalsky wisniewski wojcik stevenson stephenson peter
karleen carlene darda datha brian bryan bright brown whittle whitel hart heart judge jugde anna hannah otto
erika erica joerg georg jorge giorgio lukasz lucas macdonald mcdonald obrien oconnor van der berg von de la cruz
a b c e h x ah oh ng sch ckx tsch aeiou psycho gnome pneumonia
charlotte michael michaela christoph christopher chiara ciara czech tchaikovsky tschaikowski yvonne ysabel isabel""".split()


def only_letters(code, length=None):
    return [code[:length]] if code else []


ALGORITHMS = {
    "cologne": lambda w: only_letters("".join(code for _, code in cologne_phonetics.encode(w))),
    "soundex": lambda w: only_letters(jellyfish.soundex(w)),
    "metaphone": lambda w: only_letters(jellyfish.metaphone(w)),
    "double_metaphone": lambda w: sorted({code for code in DoubleMetaphone(max_length=4).encode(w) if code}),
    "daitch_mokotoff": lambda w: sorted(DaitchMokotoff().encode(w)),
    "nysiis": lambda w: only_letters(jellyfish.nysiis(w), 6),
    "caverphone": lambda w: only_letters(Caverphone(version=2).encode(w)),
}

lines = []
for name, encode in ALGORITHMS.items():
    cases = ",\n".join(json.dumps([word, encode(word)]) for word in WORDS)
    lines.append(f"{json.dumps(name)}: [\n{cases}\n]")
FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
