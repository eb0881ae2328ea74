"""Writes data/own.jsonl: texts, secrets and shapes of the own family, and the bits that they set, worked out from the description in
src/own.rs and src/hash.rs by nothing but Python's hmac. Texts are in normal form already, words of a to z, so that no normaliser is needed."""

import hashlib
import hmac
import json
import random


def key_of(secret):
    """HKDF-SHA512 (RFC 5869) without a salt, 64 bytes."""
    extracted = hmac.new(bytes(64), secret, hashlib.sha512).digest()
    return hmac.new(extracted, b"bloom_ident keyed 1\x01", hashlib.sha512).digest()


def tokens(text, ngram):
    if ngram == 0:
        return text.split()
    run = text.replace(" ", "")
    padded = "_" * (ngram - 1) + run + "_" * (ngram - 1)
    return [padded[i : i + ngram] for i in range(len(padded) - ngram + 1)] if run else []


def bits(texts, secret, k, p, ngram):
    key, found = key_of(secret), set()
    for token in (token for text in texts for token in tokens(text, ngram)):
        for segment in range(k):
            digest = hmac.new(key, bytes([segment // 16]) + token.encode(), hashlib.sha512).digest()
            at = 4 * (segment % 16)
            found.add(segment * p + (int.from_bytes(digest[at : at + 4], "big") * p >> 32))
    return sorted(found)


# What bloom_plan() says of these: max_chars, ngram, fpr, and k, p.
PLANS = [(30, 3, 0.01, 7, 43), (10, 2, 0.001, 10, 13), (60, 3, 0.00001, 17, 83), (20, 0, 0.01, 7, 23)]
random.seed(34)
with open("data/own.jsonl", "w") as out:
    for plan in PLANS:
        for secret in (b"chicken", bytes(range(32)), b"x" * 200):
            for _ in range(5):
                words = ["".join(random.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(random.randint(1, 9))) for _ in range(random.randint(0, 3))]
                texts = [" ".join(words), random.choice(["", "erika", "mustermann"])]
                case = {"max_chars": plan[0], "ngram": plan[1], "fpr": plan[2], "secret": secret.hex(), "texts": texts, "k": plan[3], "p": plan[4],
                        "bits": bits(texts, secret, plan[3], plan[4], plan[1])}
                out.write(json.dumps(case) + "\n")
