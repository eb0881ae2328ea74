"""XXH3 of 64 bits with seed 0, after its specification (doc/xxhash_spec.md of xxHash). For golden.py."""

MASK = 2 ** 64 - 1
PRIME32 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def word(data, at, size=8):
    return int.from_bytes(data[at:at + size], "little")


def secret(at):
    return word(SECRET, at)


def rotated(x, by):
    return (x << by | x >> (64 - by)) & MASK


def folded(a, b):
    """Both halves of a product, by exclusive or."""
    return a * b & MASK ^ a * b >> 64


def avalanche(x, shifts=(37, 32), factors=(0x165667919E3779F9,)):
    for shift, factor in zip(shifts, factors):
        x = (x ^ x >> shift) * factor & MASK
    return x ^ x >> shifts[-1]


def avalanche_of_xxh64(x):
    return avalanche(x, (33, 29, 32), (PRIME64[1], PRIME64[2]))


def mixed(data, at, key):
    return folded(word(data, at) ^ secret(key), word(data, at + 8) ^ secret(key + 8))


def xxh3(data):
    n = len(data)
    if n == 0:
        return avalanche_of_xxh64(secret(56) ^ secret(64))
    if n <= 3:
        combined = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        return avalanche_of_xxh64(combined ^ word(SECRET, 0, 4) ^ word(SECRET, 4, 4))
    if n <= 8:
        x = word(data, n - 4, 4) + (word(data, 0, 4) << 32) ^ secret(8) ^ secret(16)
        x = (x ^ rotated(x, 49) ^ rotated(x, 24)) * 0x9FB21C651E98DF25 & MASK
        x = (x ^ (x >> 35) + n) * 0x9FB21C651E98DF25 & MASK
        return x ^ x >> 28
    if n <= 16:
        low = word(data, 0) ^ secret(24) ^ secret(32)
        high = word(data, n - 8) ^ secret(40) ^ secret(48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche(n + swapped + high + folded(low, high) & MASK)
    if n <= 128:
        sum_ = n * PRIME64[0]
        for i in range((n - 1) // 32 + 1):
            sum_ += mixed(data, 16 * i, 32 * i) + mixed(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(sum_ & MASK)
    if n <= 240:
        sum_ = n * PRIME64[0] + sum(mixed(data, 16 * i, 16 * i) for i in range(8))
        sum_ = avalanche(sum_ & MASK)
        sum_ += sum(mixed(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
        return avalanche(sum_ + mixed(data, n - 16, 119) & MASK)
    return long(data)


def long(data):
    n = len(data)
    sums = [PRIME32[2], *PRIME64[:4], PRIME32[1], PRIME64[4], PRIME32[0]]

    def add(at, key):
        for i in range(8):
            value = word(data, at + 8 * i)
            keyed = value ^ secret(key + 8 * i)
            sums[i ^ 1] = sums[i ^ 1] + value & MASK
            sums[i] = sums[i] + (keyed & 0xFFFFFFFF) * (keyed >> 32) & MASK

    stripes = (n - 1) // 64
    for stripe in range(stripes):
        add(64 * stripe, 8 * (stripe % 16))
        if stripe % 16 == 15:
            sums[:] = [(x ^ x >> 47 ^ secret(128 + 8 * i)) * PRIME32[0] & MASK for i, x in enumerate(sums)]
    add(n - 64, 121)
    whole = n * PRIME64[0]
    for i in range(4):
        whole += folded(sums[2 * i] ^ secret(11 + 16 * i), sums[2 * i + 1] ^ secret(19 + 16 * i))
    return avalanche(whole & MASK)
