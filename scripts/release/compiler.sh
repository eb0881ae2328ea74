# shellcheck shell=bash
# Sourced: select_compiler finds a rustc that has the standard library of the target.
# Needs release.sh and servers.sh.

# Sets and exports RUSTC. The toolchain at hand serves if it has the target (rustup target add aarch64-unknown-linux-gnu); where it has not, and
# rustup cannot be asked for it, Debian's compiler is unpacked, with Debian's standard library for that processor.
select_compiler() {
    RUSTC=$(cd "$ROOT" && command -v rustc) || need_cargo
    if ! compgen -G "$(cd "$ROOT" && rustc --print target-libdir --target "$RUST_TARGET")/libstd-*.rlib" >/dev/null; then
        debian_compiler
    fi
    export RUSTC
}

# Runs without being installed: by the dynamic linker and the libraries of its own suite.
debian_compiler() {
    local suite=forky host root
    host=$(dpkg --print-architecture)
    root=$RELEASE/compiler-$suite-$ARCH
    RUSTC=$root/rustc
    [[ ! -x $RUSTC ]] || return 0
    need_packages mmdebstrap
    say "unpacking Debian's rustc of $suite, with the standard library for $ARCH"
    rm -rf "$root.new"
    mmdebstrap --quiet --aptopt="${ANY_AGE/=/ }" --variant=extract --architectures="$host,$ARCH" --include="rustc,libstd-rust-dev:$ARCH" "$suite" "$root.new" \
        "$(debian_sources "$suite")" || die "Debian's rustc cannot be had from $suite. Otherwise: rustup target add $RUST_TARGET"
    rm -rf "$root"
    mv "$root.new" "$root"
    cat >"$RUSTC" <<END
#!/bin/sh
# Written by scripts/release/compiler.sh.
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" "$root/usr/bin/rustc" --sysroot "$root/usr" "\$@"
END
    chmod 755 "$RUSTC"
}
