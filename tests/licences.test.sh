#!/usr/bin/env bash
# THIRD-PARTY.txt has every crate that is linked into the library, in its version, with the text of its licence.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

"$ROOT/scripts/licences.sh" --check
grep -q '^rphonetic 4.0.0: Apache-2.0$' "$ROOT/THIRD-PARTY.txt" || die 'rphonetic is not among the crates'
grep -q 'TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION' "$ROOT/THIRD-PARTY.txt" || die 'no Apache-2.0 in THIRD-PARTY.txt'
grep -q 'Mozilla Public License Version 2.0' "$ROOT/THIRD-PARTY.txt" || die 'no licence of the Public Suffix List in THIRD-PARTY.txt'
! grep -qE '^[^ ]+ [0-9.]+: .*GPL' "$ROOT/THIRD-PARTY.txt" || die 'a crate under the GPL'
