#!/usr/bin/env bash
# make quality: how good the pairs of match models are, on data whose duplicates are known, in a scratch cluster.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/bench-env.sh
source "$here/bench-env.sh"

need_packages python3
say 'quality of match models'
"$ROOT/tests/quality/run.sh"
say 'probabilities of match models, and how many are right'
"$ROOT/tests/quality/reliability.sh"
say 'duplicates that no search finds'
"$ROOT/tests/quality/missed.sh"
say 'single records, and what the batch finds'
"$ROOT/tests/quality/single.sh"
say 'duplicates that a guard stops'
"$ROOT/tests/quality/guard.sh"
say 'quality of measures of names'
"$ROOT/tests/quality/names.sh"
say 'kinds of corruption'
"$ROOT/tests/quality/corruptions.sh"
say 'one partner for each record'
"$ROOT/tests/quality/partners.sh"
say 'keyed signatures'
"$ROOT/tests/quality/keyed.sh"
