#!/usr/bin/env bash
# make bench: the core's benchmarks, then every executable benches/*.sh in a scratch cluster.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/packages.sh
source "$here/packages.sh"

need_build_packages
say 'conditions'
# What the results are worth nothing without; the server's version follows.
# The commit is the last one that changed what is measured, and not the scripts.
measured=(core pg types access src macros sql Cargo.toml Cargo.lock)
cpu() { sed -n "s/^$1[[:space:]]*: //p" /proc/cpuinfo | head -n 1; }
echo "processor: $(cpu 'model name'), family $(cpu 'cpu family') model $(cpu model), $(nproc) cores; load $(cut -d ' ' -f 1-3 /proc/loadavg)"
echo "memory: $(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1048576 }' /proc/meminfo); kernel $(uname -r); $(rustc --version)"
echo "commit: $(git -C "$ROOT" log -1 --format=%h -- "${measured[@]}")$(git -C "$ROOT" diff --quiet HEAD -- "${measured[@]}" || echo ', changed'), $(date -u +%F)"
say 'core benchmarks'
cargo bench --manifest-path "$ROOT/Cargo.toml" -p sigfile

for script in "$ROOT"/benches/*.sh; do
    [[ -x $script ]] || continue
    if [[ -z ${SCRATCH:-} ]]; then
        # shellcheck source=scripts/bench-env.sh
        source "$here/bench-env.sh"
    fi
    say "benchmark: $(basename "$script")"
    "$script"
done
