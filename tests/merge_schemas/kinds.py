"""The list of kinds of features. Each has a generator of random numbers of its own, so that the others stay as they are without it."""

import random

ALL = {}


def kind(name, weight=2):
    """Declares what adds a feature to a schema; it returns False where that cannot be."""

    def declare(function):
        ALL[name] = (function, weight)
        return function

    return declare


def chosen(rng):
    names = sorted(ALL)
    count = rng.choice([1, 2, 2, 3, 3, 4, 4, 5, 6, 8])
    picked = []
    while len(picked) < count:
        name = rng.choices(names, [ALL[n][1] for n in names])[0]
        if name not in picked:
            picked.append(name)
    # Declared first, applied first: what changes tables comes after what makes them.
    order = list(ALL)
    return sorted(picked, key=order.index)


def apply(schema, names):
    for name in sorted(names, key=list(ALL).index):
        if ALL[name][0](schema, random.Random(f"{schema.seed}/{name}")) is not False:
            schema.kinds.append(name)
