# shellcheck shell=bash
# Sourced by benches/*.sh: as test-env.sh, with a server that is set up for measuring.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/test-env.sh"

if [[ $(psql -XAtc 'SHOW fsync') == off ]]; then
    cluster_conf main 'fsync = on' 'jit = on' 'shared_buffers = 2GB' 'max_wal_size = 16GB' 'checkpoint_timeout = 1h' \
        'autovacuum = off' 'effective_cache_size = 8GB'
    cluster_stop main
    cluster_start main
fi
