# shellcheck shell=bash
# Sourced: cargo for the selected PostgreSQL. Needs common.sh and postgres.sh.

# pg_cargo SUBCOMMAND [ARG...]: with feature and environment of the selected major.
pg_cargo() {
    local subcommand=$1
    shift
    (cd "$ROOT" && PGRX_PG_CONFIG_PATH=$PG_CONFIG \
        cargo "$subcommand" --no-default-features --features "pg$PG_MAJOR" "$@")
}

# The profile of Cargo.toml: QUICK=1 asks for a build that compiles in less time and runs more slowly.
PROFILE=release
[[ -z ${QUICK:-} || $QUICK == 0 ]] || PROFILE=quick
# Of "make dev": what has changed is compiled, and no more.
[[ -z ${WORK:-} ]] || PROFILE=work
if [[ -n ${CASSERT:-} ]]; then
    [[ -n ${WORK:-} ]] || PROFILE=asserts
    # The same major with other headers: in one directory each would have to be compiled again after the other.
    export CARGO_TARGET_DIR=$ROOT/target/asserts
fi

# pgrx formats a hundred thousand lines that nobody reads.
[[ $PROFILE == release ]] || export RUSTFMT=true

# Where build_extension leaves the library: one place per major, since cargo's
# own target/release/libbloom_ident.so belongs to whichever major came last.
built_library() {
    local kind=${PROFILE#release}
    echo "$ROOT/target/pg$PG_MAJOR${kind:+-$kind}/bloom_ident.so"
}

build_extension() {
    local library
    library=$(built_library)
    need_build_packages
    need_headers
    say "building the extension for PostgreSQL $PG_MAJOR"
    pg_cargo build -p bloom_ident --profile "$PROFILE" || return
    # Not over the old file: a running server may have that mapped.
    install -D -m 755 "$CARGO_TARGET_DIR/$PROFILE/libbloom_ident.so" "$library.new" &&
        mv -f "$library.new" "$library"
}

# place_extension ROOT_DIR: the built extension into the selected PostgreSQL's
# directories below ROOT_DIR (empty: the real ones).
place_extension() {
    local pkglibdir extension
    pkglibdir=$1$("$PG_CONFIG" --pkglibdir)
    extension=$1$("$PG_CONFIG" --sharedir)/extension
    install -d "$pkglibdir" "$extension" &&
        install -m 755 "$(built_library)" "$pkglibdir/bloom_ident.so" &&
        place_scripts "$extension"
}

# place_scripts DIR: what CREATE EXTENSION and ALTER EXTENSION UPDATE read, of both extensions. The script of bloom_ident_citus is put together from a file for
# each subject. Scripts of former versions are not among them: whoever has such a version has no need of its script.
place_scripts() {
    install -m 644 "$ROOT"/bloom_ident.control "$ROOT"/citus/bloom_ident_citus.control "$ROOT"/sql/bloom_ident--*--*.sql "$ROOT"/citus/bloom_ident_citus--*--*.sql "$1" &&
        place_script "$1/bloom_ident--$(extension_version bloom_ident).sql" "$ROOT/sql/bloom_ident.sql" &&
        place_script "$1/bloom_ident_citus--$(extension_version bloom_ident_citus).sql" "$ROOT"/citus/{tables,grid,refresh,models,guard}.sql
}

# place_script NAME PART...: the parts, one after the other.
place_script() {
    local name=$1
    shift
    cat "$@" >"$name.new" && chmod 644 "$name.new" && mv -f "$name.new" "$name"
}
