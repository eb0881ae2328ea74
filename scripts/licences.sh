#!/usr/bin/env bash
# scripts/licences.sh [--check]: writes THIRD-PARTY.txt, the licences of the crates that are linked into the library, from their sources, and those
# of the data that it contains, from licenses/; with --check it fails if the file is not what it would write. "make install" puts the file beside the documents of PostgreSQL.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"

file=$ROOT/THIRD-PARTY.txt
registry=${CARGO_HOME:-$HOME/.cargo}/registry/src

# "name version|licence", a line for each crate that is linked in: no build scripts, no macros, nothing of the tests.
linked() {
    (cd "$ROOT" && cargo tree --locked -p bloom_ident -e normal,no-proc-macro --prefix none --no-default-features --features pg15 \
        --target x86_64-unknown-linux-gnu --format '{p}|{l}') |
        grep -vF "($ROOT" | sed -nE 's/ \(\*\)$//; s/^([^ ]+) v([^ |]+)[^|]*\|(.*)$/\1 \2|\3/p' | LC_ALL=C sort -u
}

# The files with the licence of a crate: the one to choose where there is a choice, and all that hold besides.
texts() {
    local dir=$1 licence=$2 all
    all=$(cd "$dir" && { find . -maxdepth 1 -type f \( -iname 'licen[sc]e*' -o -iname 'notice*' \); find . -path './LICENSES/*' -type f; } | LC_ALL=C sort)
    if [[ $licence == *MIT* ]] && grep -qE '[-/]MIT' <<<"$all"; then
        all=$(grep -E '[-/]MIT|-UNICODE|NOTICE' <<<"$all")
    fi
    echo "$all"
}

# Where a crate comes without a text: that of its licence, with its authors.
without_text() {
    local dir=$1 licence=$2 authors
    if [[ $licence == Apache-2.0 ]]; then
        cat "$ROOT/licenses/Apache-2.0.txt"
        return
    fi
    [[ $licence == *MIT* ]] || die "no licence text in $dir, and $licence has no MIT"
    authors=$(sed -n '/^authors = \[/,/\]/p' "$dir/Cargo.toml" | grep -oE '"[^"]+"' | tr -d '"' | paste -sd, | sed 's/,/, /g')
    sed "s/^Copyright (c) .*/Copyright (c) ${authors//\//}/" <<'TEXT'
MIT License

Copyright (c) authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
TEXT
}

# Each text once, behind the names of all crates that have it.
write() {
    local crate licence dir text sum
    local -A of
    local order=()
    echo 'Licences of what is linked into the library of bloom_ident, whose own licence is in LICENSE.'
    echo 'Written by scripts/licences.sh from the sources of these crates:'
    echo
    while IFS='|' read -r crate licence; do echo "$crate: $licence"; done <<<"$crates"
    printf '\nData, whatever crate or file they come with:\n\n'
    # The rows of the table, without its two lines of heading.
    grep '^|' "$ROOT/licenses/README.md" | tail -n +3
    while IFS='|' read -r crate licence; do
        dir=$(compgen -G "$registry/*/${crate/ /-}") || die "the sources of $crate are not in $registry: run cargo fetch"
        while read -r text; do
            if [[ -n $text ]]; then
                tr -d '\r' <"$dir/$text" >"$scratch/text"
            else
                without_text "$dir" "$licence" >"$scratch/text"
            fi
            # Layout tells no licences apart.
            sum=$(tr -s ' \t\n' ' ' <"$scratch/text" | sha256sum | cut -c1-16)
            if [[ -z ${of[$sum]:-} ]]; then
                order+=("$sum")
                mv "$scratch/text" "$scratch/$sum"
            fi
            of[$sum]+="$crate, "
        done <<<"$(texts "$dir" "$licence")"
    done <<<"$crates"
    for text in "$ROOT"/licenses/*.txt; do
        sum=$(tr -s ' \t\n' ' ' <"$text" | sha256sum | cut -c1-16)
        if [[ -z ${of[$sum]:-} ]]; then
            order+=("$sum")
            cp "$text" "$scratch/$sum"
        fi
        of[$sum]+="data: $(basename "$text"), "
    done
    for sum in "${order[@]}"; do
        printf '\n%s\n%s\n\n' "$(printf '=%.0s' {1..80})" "${of[$sum]%, }"
        cat "$scratch/$sum"
    done
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
crates=$(linked)
[[ -n $crates ]] || die 'cargo tree lists no crates'
write | sed 's/[ \t]*$//' >"$scratch/THIRD-PARTY.txt"
if [[ ${1:-} == --check ]]; then
    diff -q "$scratch/THIRD-PARTY.txt" "$file" >/dev/null ||
        die "THIRD-PARTY.txt is not what scripts/licences.sh writes: $(diff "$scratch/THIRD-PARTY.txt" "$file" | head -n 5)"
else
    cp "$scratch/THIRD-PARTY.txt" "$file"
fi
