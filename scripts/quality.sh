#!/usr/bin/env bash
# make quality: how good the pairs of match models are, on data whose duplicates are known, in a scratch cluster.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/bench-env.sh
source "$here/bench-env.sh"

need_packages python3
say 'quality of match models'
"$ROOT/tests/quality/run.sh"
say 'match models over fields that are keyed signatures'
signed() { QUALITY_SPARSE='' QUALITY_FORMATS='' QUALITY_OTHERS='' QUALITY_MILLION='' QUALITY_FILES='' QUALITY_SIGNED=$1 QUALITY_SETS=$2 QUALITY_PEOPLE=${3:-} QUALITY_SEEDS=1 "$ROOT/tests/quality/run.sh"; }
signed plain 'febrl3 febrl4 fake_1000 restaurant' 20000
say '... of 150 bits a feature, of 256 bits, and hardened'
QUALITY_STRATEGY='"bitsPerFeature": 150' signed plain 'febrl4 fake_1000'
QUALITY_BITS=256 QUALITY_STRATEGY='"bitsPerToken": 8' signed plain 'febrl4 fake_1000'
for hardening in '{"balance": true}' '{"diffusion": 8}' '{"salt": ["date_of_birth"]}' '{"salt": ["date_of_birth"], "diffusion": 8}'; do
    say "$hardening"
    signed "$hardening" febrl4
done
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
