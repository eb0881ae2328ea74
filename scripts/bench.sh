#!/usr/bin/env bash
# make bench: the core's benchmarks, then every executable benches/*.sh in a scratch cluster.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/packages.sh
source "$here/packages.sh"

need_build_packages
say 'core benchmarks'
cargo bench --manifest-path "$ROOT/Cargo.toml" -p bloom_ident_core

for script in "$ROOT"/benches/*.sh; do
    [[ -x $script ]] || continue
    if [[ -z ${SCRATCH:-} ]]; then
        # shellcheck source=scripts/bench-env.sh
        source "$here/bench-env.sh"
    fi
    say "benchmark: $(basename "$script")"
    "$script"
done
