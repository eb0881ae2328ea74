# shellcheck shell=bash
# Sourced by postgres.sh: source_build builds a PostgreSQL with assertions from Debian's source package, once, into target/postgres.
# Debian's own builds, and those of other packages, have no assertions; a build with them says which promise of the server's
# interfaces the extension does not keep.
# Needs common.sh and packages.sh.

# What SOURCE_FLAGS is for: macros of the preprocessor that change what the server does. Each set of them is a build of its own.
#   -DUSE_VALGRIND                                        the server tells valgrind what memory it has given out
#   -DRELCACHE_FORCE_RELEASE -DCATCACHE_FORCE_RELEASE     nothing stays in the caches that nobody holds
SOURCE_FLAGS=${SOURCE_FLAGS:-}

# The suite of Debian whose source package a major is.
source_suite() {
    case $1 in
        15) echo bookworm ;;
        17) echo trixie ;;
        18) echo forky ;;
        *) die "PostgreSQL $1 is in no suite of Debian that this knows" ;;
    esac
}

# source_build MAJOR: sets PG_CONFIG.
source_build() {
    local major=$1 name=$1-asserts prefix work archive
    [[ -z $SOURCE_FLAGS ]] || name+=-$(sha256sum <<<"$SOURCE_FLAGS" | head -c 8)
    prefix=$ROOT/target/postgres/$name
    PG_CONFIG=$prefix/bin/pg_config
    [[ ! -x $PG_CONFIG ]] || return 0
    need_packages build-essential flex bison perl pkg-config libicu-dev libxml2-dev bzip2 xz-utils debian-archive-keyring ca-certificates
    mkdir -p "$ROOT/target/postgres"
    work=$(mktemp -d "$ROOT/target/postgres/source.XXXXXX")
    archive=$(source_archive "$major" "$work") || exit
    say "building PostgreSQL from $(basename "$archive"), with assertions${SOURCE_FLAGS:+, $SOURCE_FLAGS}: some three minutes on two cores, once"
    tar -C "$work" -xf "$archive"
    # In a subshell, since what cargo and make are told by their callers means something to configure and to make, too.
    (
        unset MAKEFLAGS MAKELEVEL MFLAGS GNUMAKEFLAGS CFLAGS CPPFLAGS LDFLAGS
        cd "$work"/postgresql-*/
        # Embedded SQL in C takes a tenth of the time, and nothing here uses it.
        sed -i 's/^SUBDIRS = libpq ecpg$/SUBDIRS = libpq/' src/interfaces/Makefile
        # Compiled with -O2 and all that a debugger may ask for it takes twice the time.
        # A copy of the installation finds libpq where it stands itself (see stage_install).
        ./configure --quiet --prefix="$prefix.new" --with-icu --with-libxml --without-readline --without-zlib \
            --enable-cassert CFLAGS='-O1 -g1' CPPFLAGS="$SOURCE_FLAGS" LDFLAGS="-Wl,-rpath,'\$\$ORIGIN/../lib',-rpath,'\$\$ORIGIN/../../../..'"
        make --silent -j "$(nproc)"
        make --silent install
        for dir in contrib/{btree_gist,fuzzystrmatch,pg_trgm,postgres_fdw,pageinspect} src/test/{regress,isolation}; do
            make --silent -j "$(nproc)" -C "$dir"
            make --silent -C "$dir" install
        done
        # What valgrind finds in every server.
        cp src/tools/valgrind.supp "$("$prefix.new/bin/pg_config" --sharedir)"
    ) >"$work/log" 2>&1 || {
        tail -n 30 "$work/log" >&2
        die "PostgreSQL could not be built (see above; all of it: $work/log)"
    }
    # Its programs find their files relative to themselves.
    rm -rf "$prefix"
    mv "$prefix.new" "$prefix"
    rm -rf "$work"
}

# source_archive MAJOR DIR: fetches the archive of the newest source package that can be had, to DIR; prints its path.
# The machine's own sources of packages are asked; those of its apt stay as they are.
source_archive() {
    local major=$1 dir=$2 suite options version uri release
    suite=$(source_suite "$major")
    mkdir -p "$dir"/apt/{lists,archives}/partial
    # Without a suite's security updates a suite is well enough, since what is built serves tests only.
    while IFS='|' read -r uri release; do
        [[ $release == bookworm* ]] || continue
        echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri ${release/bookworm/$suite} main"
    done < <(apt-get indextargets --format '$(REPO_URI)|$(RELEASE)' 'Created-By: Packages' 'Component: main' 'Origin: Debian' | sort -u) >"$dir/apt/sources.list"
    [[ -s $dir/apt/sources.list ]] || die 'no source of Debian packages is known to apt, so that there is none of source packages'
    options=(-q -o "Dir::Etc::SourceList=$dir/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$dir/apt/lists"
        -o "Dir::Cache=$dir/apt" -o APT::Sandbox::User=root)
    # A suite that is not released has no updates: what is missing is no error here.
    apt-get "${options[@]}" update >"$dir/apt/log" 2>&1 || true
    # The newest one is not always there: archives of source packages follow later.
    for version in $(apt-cache "${options[@]}" showsrc --only-source "postgresql-$major" 2>/dev/null | sed -n 's/^Version: //p' | sort -ruV); do
        (cd "$dir" && apt-get "${options[@]}" source --download-only "postgresql-$major=$version") >>"$dir/apt/log" 2>&1 || true
        # An archive that came without the rest of its package was checked all the same.
        if compgen -G "$dir/postgresql-${major}_${version%-*}.orig.tar.*[z2]" >/dev/null; then
            compgen -G "$dir/postgresql-${major}_${version%-*}.orig.tar.*[z2]"
            return
        fi
    done
    tail -n 5 "$dir/apt/log" >&2
    die "no source package of PostgreSQL $major can be fetched from Debian's $suite (see above). Install it yourself and name it: PG_CONFIG=/path/to/pg_config"
}
