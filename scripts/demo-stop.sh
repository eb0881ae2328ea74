#!/usr/bin/env bash
# make demo-stop: stop and remove the cluster that "make demo KEEP=1" left.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/common.sh
source "$here/common.sh"
# shellcheck source=scripts/cluster.sh
source "$here/cluster.sh"

state=$ROOT/target/demo-cluster
if [[ ! -e $state ]]; then
    exit 0
fi
SCRATCH=$(<"$state")
# After a reboot the directory is gone; and never remove one that is not ours.
if [[ -e $SCRATCH/.bloom_ident-scratch ]]; then
    say 'stopping the demo cluster'
    PGBIN=$(dirname "$(find "$SCRATCH/stage" -name pg_ctl)")
    cluster_stop main immediate || true
    rm -rf "$SCRATCH"
fi
rm -f "$state"
