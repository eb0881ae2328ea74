#!/usr/bin/env bash
# make torture [TORTURE=minutes]: the tests with crashes, standbys and many sessions, for as long as it says.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/test-env.sh
source "$here/test-env.sh"

minutes=${TORTURE:-30}
if [[ ! $minutes =~ ^[1-9][0-9]*$ ]]; then
    die "TORTURE is a number of minutes, not \"$minutes\""
fi

# A crash takes some 3 seconds: a quarter of the time for each test that repeats itself. The last one has an end: it flips every
# bit of an index, fifty of them a second or more, whatever the minutes say, unless DAMAGES says how many.
export CRASHES=${CRASHES:-$((minutes * 5 + 1))}
export STANDBY_SECONDS=${STANDBY_SECONDS:-$((minutes * 15))}
export CONCURRENCY_SECONDS=${CONCURRENCY_SECONDS:-$((minutes * 15))}
export CANCEL_SECONDS=${CANCEL_SECONDS:-$((minutes * 15))}
export DAMAGES=${DAMAGES:-1000000000} DAMAGE_BITS=${DAMAGE_BITS:-all}
failures=0
# make test has fixed inputs.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-$((RANDOM << 15 | RANDOM))}
say "properties and fuzz targets, PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED"
cargo test --manifest-path "$ROOT/Cargo.toml" -p base -p text -p signature -p sigfile -p linkage -- --include-ignored || {
    warn "a property failed: PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED cargo test -p base -p text -p signature -p sigfile -p linkage -- --include-ignored"
    failures=$((failures + 1))
}
# Eighteen targets and two at a time: a tenth of the minutes more.
FUZZ_SECONDS=${FUZZ_SECONDS:-$((minutes * 2 / 3 + 1))} cargo test --manifest-path "$ROOT/Cargo.toml" -p bloom_ident_fuzz || {
    warn "a fuzz target failed: PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED cargo test -p bloom_ident_fuzz"
    failures=$((failures + 1))
}
export ROUNDS=${ROUNDS:-1000}
export TORTURE=$minutes
for name in merge_schemas sigfile_crash sigfile_space sigfile_standby sigfile_concurrency cancel damage; do
    say "$name"
    "$ROOT/tests/$name.test.sh" || {
        warn "$name failed"
        failures=$((failures + 1))
    }
done
say "done after $SECONDS s, $failures failed"
exit $((failures > 0))
