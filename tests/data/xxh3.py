"""XXH3, 64 bits, seed 0, written out from the specification of xxHash, as slowly as it gets. golden.py uses it."""

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3, P64_4, P64_5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
)
M = 2 ** 64 - 1


def number(data, at, size=8):
    return int.from_bytes(data[at:at + size], "little")


def swapped(value):
    return int.from_bytes(value.to_bytes(8, "little"), "big")


def rotated(value, by):
    return (value << by | value >> (64 - by)) & M


def folded(a, b):
    """The lower and the upper half of a product, combined."""
    return (a * b & M) ^ (a * b >> 64)


def avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & M
    return h ^ h >> 32


def avalanche_of_xxh64(h):
    h ^= h >> 33
    h = h * P64_2 & M
    h ^= h >> 29
    h = h * P64_3 & M
    return h ^ h >> 32


def mixed(data, at, secret):
    return folded(number(data, at) ^ number(SECRET, secret), number(data, at + 8) ^ number(SECRET, secret + 8))


def long_hash(data):
    n = len(data)
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]

    def accumulate(at, secret):
        for i in range(8):
            value = number(data, at + 8 * i)
            key = value ^ number(SECRET, secret + 8 * i)
            acc[i ^ 1] = acc[i ^ 1] + value & M
            acc[i] = acc[i] + (key & 0xFFFFFFFF) * (key >> 32) & M

    blocks = (n - 1) // 1024
    for block in range(blocks):
        for stripe in range(16):
            accumulate(1024 * block + 64 * stripe, 8 * stripe)
        for i in range(8):
            acc[i] = ((acc[i] ^ acc[i] >> 47) ^ number(SECRET, 128 + 8 * i)) * P32_1 & M
    for stripe in range((n - 1 - 1024 * blocks) // 64):
        accumulate(1024 * blocks + 64 * stripe, 8 * stripe)
    accumulate(n - 64, 121)
    parts = (folded(acc[2 * i] ^ number(SECRET, 11 + 16 * i), acc[2 * i + 1] ^ number(SECRET, 19 + 16 * i)) for i in range(4))
    return avalanche(n * P64_1 + sum(parts) & M)


def xxh3(data):
    n = len(data)
    if n == 0:
        return avalanche_of_xxh64(number(SECRET, 56) ^ number(SECRET, 64))
    if n <= 3:
        combined = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return avalanche_of_xxh64(combined ^ number(SECRET, 0, 4) ^ number(SECRET, 4, 4))
    if n <= 8:
        h = number(data, n - 4, 4) + (number(data, 0, 4) << 32) ^ number(SECRET, 8) ^ number(SECRET, 16)
        h ^= rotated(h, 49) ^ rotated(h, 24)
        h = h * 0x9FB21C651E98DF25 & M
        h ^= (h >> 35) + n
        h = h * 0x9FB21C651E98DF25 & M
        return h ^ h >> 28
    if n <= 16:
        low = number(data, 0) ^ number(SECRET, 24) ^ number(SECRET, 32)
        high = number(data, n - 8) ^ number(SECRET, 40) ^ number(SECRET, 48)
        return avalanche(n + swapped(low) + high + folded(low, high) & M)
    acc = n * P64_1
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            acc += mixed(data, 16 * i, 32 * i) + mixed(data, n - 16 * (i + 1), 32 * i + 16)
        return avalanche(acc & M)
    if n <= 240:
        acc = avalanche(acc + sum(mixed(data, 16 * i, 16 * i) for i in range(8)) & M)
        acc += sum(mixed(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
        return avalanche(acc + mixed(data, n - 16, 119) & M)
    return long_hash(data)
