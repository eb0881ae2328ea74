#!/usr/bin/env python3
"""keyed.py encode CSV SCHEMA SECRET CLKS | link A B THRESHOLD PAIRS: what clkhash and anonlink take, as seconds of processor time on standard output. Run by keyed.sh.

Encode writes the CLKs of the records of a CSV with a header, in base64, a line each; SECRET is in hexadecimal digits. Link reads such lines of two
registers and writes the pairs of a Dice similarity of THRESHOLD, as lines of two numbers that count from 1. One thread, in this process.
"""

import csv
import sys
import time
from base64 import b64decode, b64encode

import anonlink
from bitarray import bitarray
from clkhash import clk
from clkhash.key_derivation import generate_key_lists
from clkhash.schema import from_json_file


def encode(records, schema, secret, clks):
    with open(records) as lines:
        rows = list(csv.reader(lines))[1:]
    with open(schema) as text:
        schema = from_json_file(text)
    times = []
    for _ in range(3):
        began = time.process_time()
        # As generate_clk_from_csv does in each of its processes; values are checked, as bloom_clk checks them.
        keys = generate_key_lists(
            bytes.fromhex(secret), len(schema.fields), key_size=schema.kdf_key_size, salt=schema.kdf_salt, info=schema.kdf_info, kdf=schema.kdf_type, hash_algo=schema.kdf_hash
        )
        filters, _ = clk.hash_chunk(rows, keys, schema)
        times.append(time.process_time() - began)
    with open(clks, "w") as out:
        out.writelines(b64encode(bits.tobytes()).decode() + "\n" for bits in filters)
    print(sorted(times)[1])


def read(path):
    filters = []
    with open(path) as lines:
        for line in lines:
            bits = bitarray(endian="big")
            bits.frombytes(b64decode(line))
            filters.append(bits)
    return filters


def link(a, b, threshold, pairs):
    registers = [read(a), read(b)]
    began = time.process_time()
    _, _, (of_a, of_b) = anonlink.candidate_generation.find_candidate_pairs(
        registers, anonlink.similarities.dice_coefficient_accelerated, threshold, k=None
    )
    print(time.process_time() - began)
    with open(pairs, "w") as out:
        out.writelines(f"{one + 1}\t{other + 1}\n" for one, other in zip(of_a, of_b))


if sys.argv[1] == "encode":
    encode(*sys.argv[2:])
else:
    link(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5])
