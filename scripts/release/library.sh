#!/usr/bin/env bash
# scripts/release/library.sh MAJOR ARCH: builds the library of the packages for a PostgreSQL and a processor, and installs it with its scripts below
# target/release-work/pgMAJOR-ARCH/stage. The debug symbols stay apart. QUICK=1 tries these scripts with a build that takes less time; such packages are no release.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"
# shellcheck source=scripts/release/servers.sh
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"
# shellcheck source=scripts/release/compiler.sh
source "$(dirname "${BASH_SOURCE[0]}")/compiler.sh"

for_target "$@"
server_headers
need_build_packages
! foreign "$ARCH" || need_packages "gcc-$TRIPLE" "libc6-dev-$ARCH-cross"
select_compiler

# cargo.sh's place for what is built, and place_extension's for what is installed.
built_library() { echo "$BUILT/bloom_ident.so"; }

# Paths of this machine would make each build another one: what the compiler writes of them is the same everywhere.
remap=("$ROOT=/usr/src/bloom_ident" "$("$RUSTC" --print sysroot)/lib/rustlib/src/rust=/rustc/$("$RUSTC" -vV | sed -n 's/^commit-hash: //p')")
# They must be there to be named. The folder's name ends with a number that differs between versions of cargo.
(cd "$ROOT" && cargo fetch --locked --quiet)
for registry in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do remap+=("$registry=/usr/src/crates"); done
flags=
for pair in "${remap[@]}"; do flags+=" --remap-path-prefix=$pair"; done

say "building the library for PostgreSQL $MAJOR on $ARCH, by $("$RUSTC" --version)"
(
    # A directory of its own, since these flags compile every crate anew, for each processor, so that two are built at once.
    export CARGO_TARGET_DIR=$RELEASE/cargo-$ARCH
    # Lines for backtraces, not variables: with these the linker would take several times the memory.
    profile=${PROFILE^^}
    export "CARGO_PROFILE_${profile}_DEBUG=line-tables-only" "CARGO_PROFILE_${profile}_STRIP=none" CARGO_INCREMENTAL=0
    upper=${RUST_TARGET^^}
    export "CARGO_TARGET_${upper//-/_}_RUSTFLAGS=$flags -C link-arg=-Wl,--build-id=sha1"
    if foreign "$ARCH"; then
        export "CARGO_TARGET_${upper//-/_}_LINKER=$TRIPLE-gcc" "CC_${RUST_TARGET//-/_}=$TRIPLE-gcc" "AR_${RUST_TARGET//-/_}=$TRIPLE-ar"
    fi
    # The C compiler writes its paths, too, but for those that it is told of.
    export "CFLAGS_${RUST_TARGET//-/_}=-ffile-prefix-map=$ROOT=/usr/src/bloom_ident"
    export RUSTFMT=true
    pg_cargo build --locked -p bloom_ident --profile "$PROFILE" --target "$RUST_TARGET"
    cp "$CARGO_TARGET_DIR/$RUST_TARGET/$PROFILE/libbloom_ident.so" "$BUILT/unstripped.so"
)

# As dh_strip does it.
build_id=$("$(tool readelf)" -n "$BUILT/unstripped.so" | sed -n 's/.*Build ID: //p')
[[ -n $build_id ]] || die 'the library has no build id, by which debuggers find its symbols'
debug=$BUILT/debug/usr/lib/debug/.build-id/${build_id:0:2}
rm -rf "$BUILT/debug" "$STAGE"
mkdir -p "$debug"
"$(tool objcopy)" --only-keep-debug "$BUILT/unstripped.so" "$debug/${build_id:2}.debug"
chmod 644 "$debug/${build_id:2}.debug"
"$(tool strip)" --remove-section=.comment --remove-section=.note --strip-unneeded -o "$BUILT/bloom_ident.so" "$BUILT/unstripped.so"
echo "$build_id" >"$BUILT/build-id"
# Nothing that was built so is released: check.sh looks for it.
[[ $PROFILE == release ]] || touch "$PACKAGES/QUICK"
rm "$BUILT/unstripped.so"

place_extension "$STAGE"
# A library is nothing to be executed, and Debian wants it so.
chmod 644 "$STAGE$("$PG_CONFIG" --pkglibdir)/bloom_ident.so"
"$here/glibc.sh" "$MAJOR" "$ARCH"
say "built $BUILT/bloom_ident.so ($(stat -c %s "$BUILT/bloom_ident.so") bytes) for $ARCH"
