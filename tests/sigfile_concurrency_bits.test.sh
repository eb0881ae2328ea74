#!/usr/bin/env bash
# As sigfile_concurrency.test.sh, many sessions: of an index over sampled sketches.

export SIGFILE_TYPE=minhash_bits
# shellcheck source=tests/sigfile_concurrency.test.sh
source "$(dirname "${BASH_SOURCE[0]}")/sigfile_concurrency.test.sh"
