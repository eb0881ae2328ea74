#!/usr/bin/env bash
# pgspot, which looks for names in extension scripts that somebody else's objects could be found by, finds in sql/ and in the script of bloom_ident_citus what
# tests/pgspot/exceptions.txt names, and nothing else. --list prints them all, in the form of that file.

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
# shellcheck source=scripts/packages.sh
source "$ROOT/scripts/packages.sh"
# shellcheck source=scripts/venv.sh
source "$ROOT/scripts/venv.sh"
# shellcheck source=scripts/cargo.sh
source "$ROOT/scripts/cargo.sh"

need_venv pgspot

# Each finding as "CODE WHAT: first line of its statement". pgspot gives the line at which the statement before has ended.
findings() {
    awk 'NR == FNR { line[FNR] = $0; next }
        match($0, / at line [0-9]+$/) {
            n = substr($0, RSTART + 9) + 0
            while (line[n] ~ /^(--|\\|$)/) n++
            split($0, part, ": ")
            finding = substr($0, 1, RSTART - 1)
            print part[1] " " substr(finding, length(part[1] part[2]) + 5) ": " line[n]
            found++
            next
        }
        /^ *Errors: / { told = $2 + $4 + $6; next }
        NF { print "not understood: " $0 }
        END { if (told == "" || told != found) print "pgspot tells of " told " findings, " found " are read" }' "$1" -
}

rm -rf "$ROOT/target/pgspot/scripts"
mkdir -p "$ROOT/target/pgspot/scripts"
place_scripts "$ROOT/target/pgspot/scripts"
for script in "$ROOT"/target/pgspot/scripts/*.sql; do
    # Its exit status says whether it has found anything.
    { "$venv/bin/pgspot" "$script" 2>&1 || true; } | findings "$script"
done | sort >"$ROOT/target/pgspot/findings"
if [[ ${1:-} == --list ]]; then
    cat "$ROOT/target/pgspot/findings"
    exit
fi
diff <(grep -v -e '^#' -e '^$' "$ROOT/tests/pgspot/exceptions.txt" | sort) "$ROOT/target/pgspot/findings" ||
    die 'pgspot finds something (>) that tests/pgspot/exceptions.txt does not give a reason for, or no more (<) what stands there: name the schema of what is found'
