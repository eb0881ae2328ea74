#!/usr/bin/env python3
"""peers.py sign MESSAGES | search MESSAGES THRESHOLD ASKED | pairs MAILS THRESHOLD CLUSTERS: what datasketch and rensa take, as rows of a table in Markdown. Run by tokens.sh and campaigns.sh.

Files have tab-separated lines, a number first and words with blanks between them last. Pairs writes the clusters of both, as lines of library, cluster and number,
to the file CLUSTERS. One thread, as RAYON_NUM_THREADS=1 tells rensa.
"""

import sys
import time
from importlib.metadata import version

import datasketch
import rensa

PERMUTATIONS = 128


def read(path):
    """Numbers and lists of words."""
    with open(path) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [int(row[0]) for row in rows], [row[-1].split(" ") for row in rows]


def timed(work):
    began = time.perf_counter()
    made = work()
    return time.perf_counter() - began, made


def datasketch_one(words):
    sketch = datasketch.MinHash(num_perm=PERMUTATIONS)
    for word in words:
        sketch.update(word.encode())
    return sketch


def datasketch_batch(words):
    sketch = datasketch.MinHash(num_perm=PERMUTATIONS)
    sketch.update_batch([word.encode() for word in words])
    return sketch


def rensa_one(words):
    sketch = rensa.RMinHash(PERMUTATIONS, 1)
    sketch.update(words)
    return sketch


def sign(path):
    """Messages a second."""
    _, messages = read(path)
    few = messages[:5000]
    ways = [
        ("datasketch", "word by word", few, lambda: [datasketch_one(words) for words in few]),
        ("datasketch", "a message at once", few, lambda: [datasketch_batch(words) for words in few]),
        ("rensa", "a message at once", messages, lambda: [rensa_one(words) for words in messages]),
        ("rensa", "all messages at once", messages, lambda: rensa.RMinHash.digest_matrix_from_token_sets(messages, PERMUTATIONS, 1)),
        ("rensa", "C-MinHash, all messages at once", messages, lambda: rensa.CMinHash.digests_from_token_sets(messages, PERMUTATIONS, 1)),
    ]
    for library, way, some, work in ways:
        taken = min(timed(work)[0] for _ in range(3))
        print(f"| {library} {version(library)}, {way} | {round(len(some) / taken, -2):,.0f} |")


def of_datasketch(sketches, threshold):
    """A search for a sketch among others: their places, where the estimate reaches the threshold."""
    index = datasketch.MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
    for i, sketch in enumerate(sketches):
        index.insert(i, sketch)
    return lambda sketch: [i for i in index.query(sketch) if sketch.jaccard(sketches[i]) >= threshold]


def of_rensa(sketches, threshold):
    # 32 bands of 4 rows, by which .9998 of the pairs at .7 become candidates; 16 of 8 would lose two in five.
    index = rensa.RMinHashLSH(threshold, PERMUTATIONS, 32)
    index.insert_many(sketches)
    return lambda sketch: [i for i in index.query(sketch) if sketch.jaccard(sketches[i]) >= threshold]


def search(path, threshold, asked):
    """Milliseconds for a message, signing included; the index is in memory."""
    _, messages = read(path)
    _, asked = read(asked)
    for library, one, index in (("rensa", rensa_one, of_rensa), ("datasketch", datasketch_batch, of_datasketch)):
        find = index([one(words) for words in messages], threshold)
        times = sorted(timed(lambda: find(one(words)))[0] for words in asked for _ in range(5))
        found = sum(len(find(one(words))) for words in asked) / len(asked)
        print(f"| {library} {version(library)}, LSH in memory, {len(messages):,} messages, signing included | {threshold} | {times[len(times) // 2] * 1000:.3f} | {found:.1f} |")


def clusters_of(count, neighbours):
    """The component of each of so many mails, by the lists of neighbours."""
    above = list(range(count))

    def top(i):
        while above[i] != i:
            above[i] = above[above[i]]
            i = above[i]
        return i

    for i, found in enumerate(neighbours):
        for other in found:
            a, b = top(i), top(other)
            if a != b:
                above[max(a, b)] = min(a, b)
    return [top(i) for i in range(count)]


def pairs(path, threshold, clusters):
    """Seconds for signing, for index and search, and the clusters."""
    numbers, mails = read(path)

    ways = [
        ("rensa", lambda: rensa.RMinHash.from_token_sets(mails, PERMUTATIONS, 1), of_rensa),
        ("datasketch", lambda: [datasketch_batch(words) for words in mails], of_datasketch),
    ]
    with open(clusters, "w") as out:
        for library, signing, searching in ways:
            signed, sketches = timed(signing)
            searched, found = timed(lambda: clusters_of(len(mails), map(searching(sketches, threshold), sketches)))
            out.writelines(f"{library}\t{cluster}\t{number}\n" for cluster, number in zip(found, numbers))
            print(f"{library} {version(library)}\t{signed:.1f}\t{searched:.1f}")


if sys.argv[1] == "sign":
    sign(sys.argv[2])
elif sys.argv[1] == "search":
    search(sys.argv[2], float(sys.argv[3]), sys.argv[4])
else:
    pairs(sys.argv[2], float(sys.argv[3]), sys.argv[4])
