"""Types whose values are easily changed on their way into a text and back."""

from model import literal

TYPES = {
    "text": ["a", "B", " b ", "", "it's \\ \"q\"", "NULL", "äöü", "x\ny"],
    "varchar(8)": ["a", "bc", "d "],
    "char(5)": ["a", "bc"],
    '"char"': ["a", ""],
    "name": ["a b", "c"],
    "int": ["0", "-5", "7"],
    "numeric": ["1.50", "-0.000", "NaN", "Infinity", "1e20"],
    "numeric(6,3)": ["1.5", "-2"],
    "float8": ["-0", "0.1", "NaN", "-Infinity", "1e-310", "0.30000000000000004"],
    "float4": ["0.1", "1e-40", "16777217"],
    "money": ["1000.5", "-2"],
    "bool": ["t", "f"],
    "bytea": ["\\x00ff", "\\x", "\\x5c27"],
    "date": ["2024-02-03", "0044-03-15 BC", "infinity"],
    "time": ["04:05:06.789", "24:00"],
    "timetz": ["04:05:06+02", "04:05:06-03:30"],
    "timestamp": ["2024-02-03 04:05:06.123456", "-infinity", "0001-01-01 00:00:00 BC"],
    "timestamptz": ["2024-02-03 04:05:06+00", "2024-07-03 23:30:00-05", "infinity", "2024-10-27 00:30:00+00", "2024-10-27 01:30:00+00"],
    "interval": ["1 mon -2 days 00:00:00.5", "-1 year -2 mons +3 days", "P1Y2M", "-00:00:01"],
    "text[]": ["{x,NULL}", '{"NULL",""}', "{}", "{{a,b},{c,NULL}}", "[0:1]={a,b}"],
    "int[]": ["{1,NULL}", "{}", "{{1,2},{3,4}}"],
    "json": ['{"b":1, "a":  1.0, "a": 2}', "null", '"x"'],
    "jsonb": ['{"b": 1.00}', "null", "[1, null]"],
    "uuid": ["00000000-0000-0000-0000-00000000000a"],
    "inet": ["10.0.0.1/8", "::1"],
    "cidr": ["10.0.0.0/8"],
    "macaddr": ["08:00:2b:01:02:03"],
    "bit(4)": ["1010"],
    "varbit": ["10101", ""],
    "point": ["(1,-0)"],
    "box": ["(1,2),(0.1,0)"],
    "path": ["[(0,0),(1,0.1)]"],
    "tsvector": ["'a':1A 'it''s':2", ""],
    "tsquery": ["'a' & !'b c'"],
    "int4range": ["[1,5)", "empty", "(,3)"],
    "tstzrange": ["[2024-02-03 04:05:06+00,infinity)"],
    "datemultirange": ["{[2024-01-01,2024-02-01),[2024-03-01,)}", "{}"],
    "timestamptz[]": ['{"2024-02-03 04:05:06+00",NULL}'],
    "interval[]": ['{"1 mon -2 days","-00:00:01"}'],
    "money[]": ["{1000.5,NULL}"],
    "bytea[]": ['{"\\\\x00ff"}'],
    "regtype": ["int4", "pg_catalog.text"],
    "regproc": ["pg_catalog.now"],
    "regconfig": ["simple"],
    "regrole": ["postgres"],
    "regnamespace": ["pg_catalog"],
    "oid": ["12"],
    "pg_lsn": ["16/B374D848"],
    "xid8": ["12"],
    "tid": ["(1,2)"],
}


def of(texts, nulls=0.25):
    """What gives one of the values, or NULL."""

    def value(rng, _):
        return None if rng.random() < nulls else literal(rng.choice(texts))

    return value


def few(*texts):
    """One of a few, which are often alike, and never NULL."""
    return lambda rng, _: literal(rng.choice(texts))


def number(rng, i):
    return str(i + 1)
