"""Makes random schemas, merges their records and takes the merges back: tests/merge_schemas.test.sh."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys

import checks
import known
import maker


def psql(*arguments, **options):
    return subprocess.run(["psql", "-X", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", **options)


def capabilities():
    # A server without ICU still lists one collation of it (unicode), so only making one tells.
    icu = "BEGIN; CREATE COLLATION pg_temp.probe (provider = icu, locale = 'und', deterministic = false); ROLLBACK"
    probes = {"xml": "SELECT '<a/>'::xml", "icu": icu}
    return frozenset(name for name, query in probes.items() if psql("-Atqc", query).returncode == 0)


def run(seed, folder, have, names=None):
    """The schema of a seed and its failures."""
    schema = maker.make(seed, names, have)
    file = folder / f"{seed}.sql"
    file.write_text("\n".join(maker.script(schema)) + "\n", encoding="utf-8")
    done = psql("-q", "-f", str(file), timeout=120)
    (folder / f"{seed}.out").write_text(done.stdout, encoding="utf-8")
    return schema, checks.judge(schema, done.stdout), done.stdout


def shrink(seed, folder, have):
    """The fewest kinds with which the first failure is still there."""
    schema, failures, _ = run(seed, folder, have)
    if not failures:
        return schema
    check, names = failures[0].check, list(schema.own_kinds)
    for name in list(names):
        fewer = [n for n in names if n != name]
        if any(f.check == check for f in run(seed, folder, have, fewer)[1]):
            names = fewer
    return run(seed, folder, have, names)[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    have = capabilities()
    kinds, unknown, excused, mended, merged, undone = collections.Counter(), 0, collections.Counter(), 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for seed, (schema, failures, text) in zip(given.seeds, pool.map(lambda seed: run(seed, given.folder, have), given.seeds)):
            kinds.update(schema.kinds)
            merged += text.count('"redirected": ')
            undone += text.count("\n@undo ")
            reasons = [known.reason(schema, failure) for failure in failures]
            excused.update(r for r in reasons if r)
            if gone := known.mended(schema, failures):
                mended += 1
                print(f"seed {seed} no longer fails by: {', '.join(gone)}. Take it out of known.py.")
            new = [f for f, r in zip(failures, reasons) if not r]
            if not new:
                continue
            unknown += 1
            file = given.folder / f"{seed}.sql"
            print(f"seed {seed} ({', '.join(schema.kinds)}): {file}")
            for failure in new[:6]:
                print(f"    {str(failure)[:700]}")
            if given.shrink:
                print(f"    with fewer kinds: {', '.join(shrink(seed, given.folder, have).own_kinds)}")
            sys.stdout.flush()
    for reason, count in sorted(excused.items()):
        print(f"known, {count} times: {reason}")
    print(f"{len(given.seeds)} schemas, {merged} merges, {undone} times taken back or refused, {unknown} schemas with failures")
    if unknown:
        print("again: MERGE_SEEDS=<seed> make script TEST=merge_schemas")
    return unknown > 0 or mended > 0


if __name__ == "__main__":
    sys.exit(main())
