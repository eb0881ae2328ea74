#!/usr/bin/env bash
# scripts/release/try-deb.sh MAJOR: installs the Debian package in an empty system, goes the way of README.md to its first result, updates it from the version
# before if there is a package of that, and purges it. Says how long a stranger takes for that result.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"
# shellcheck source=scripts/release/servers.sh
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"
# shellcheck source=scripts/release/chroots.sh
source "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

for_target "${1:-}" "$(dpkg --print-architecture)"
file=bloom-ident-v$VERSION-pg$MAJOR-$ARCH-linux-gnu.deb
package=postgresql-$MAJOR-bloom-ident
[[ -e $PACKAGES/$file ]] || die "there is no $PACKAGES/$file: scripts/release/deb.sh $MAJOR $ARCH"

lintian_errors() {
    need_packages lintian
    # This machine may be of another suite than the package is for: what an older Debian does not know yet is no error.
    lintian --fail-on error --suppress-tags bad-distribution-in-changes-file --tag-display-limit 0 "$1"
}

# install_in FILE: as a stranger does it.
install_in() {
    cp "$1" "$CHROOT/tmp/"
    in_chroot apt-get -q install -y "/tmp/$(basename "$1")" >"$WORK/apt.log" 2>&1 || {
        tail -n 20 "$WORK/apt.log" >&2
        die "apt cannot install $1 (see above)"
    }
}

# with_server SCRIPT: runs a shell script beside the cluster that Debian's package has made. It listens to no port, since a server of this machine may have that one.
with_server() {
    in_chroot bash -euc "
        mkdir -p /run/postgresql && chown postgres: /run/postgresql
        pg_ctlcluster $MAJOR main start -o '-c listen_addresses='
        run() { cd /tmp && runuser -u postgres -- psql -X -v ON_ERROR_STOP=1 \"\$@\"; }
        $1
        pg_ctlcluster $MAJOR main stop"
}

for deb in "$file" "${file%.deb}-dbgsym.deb"; do
    lintian_errors "$PACKAGES/$deb" || die "lintian finds errors in $deb (see above)"
done
say 'lintian: no errors'

suite=$(chroot_suite "$MAJOR")
chroot_new "$suite"
if ((MAJOR == 16)); then
    "$here/wheel-deb.sh" "$CHROOT/tmp/postgresql-16.deb"
    in_chroot sh -c 'apt-get -q update && apt-get -q install -y /tmp/postgresql-16.deb' >"$WORK/apt.log" 2>&1 || {
        tail -n 20 "$WORK/apt.log" >&2
        die 'PostgreSQL 16 cannot be installed (see above)'
    }
fi

# The first statements of README.md, up to the first result that it shows.
awk '/^## Clean a register/ { here = 1 } here && /^```text/ { exit } here && /^```$/ { sql = 0 } here && sql { print } here && /^```sql/ { sql = 1 }' "$ROOT/README.md" |
    sed "s|'docs/data/register.csv'|'/usr/share/doc/$package/examples/register.csv'|" >"$CHROOT/tmp/readme.sql"
grep -q bloom_model_fit "$CHROOT/tmp/readme.sql" || die 'README.md has no statements of a model in "Clean a register" any more'

mkdir -p "$RELEASE/older"
before=$(find "$RELEASE/older" -name "bloom-ident-v*-pg$MAJOR-$ARCH-linux-gnu.deb" ! -name "$file" | sort -V | tail -n 1)
began=${EPOCHREALTIME/./}
in_chroot apt-get -q update >"$WORK/apt.log" 2>&1
listed=${EPOCHREALTIME/./}
install_in "${before:-$PACKAGES/$file}"
installed=${EPOCHREALTIME/./}
fetched=$(grep '^Fetched ' "$WORK/apt.log") || fetched='nothing fetched'
with_server "run -q -c 'CREATE EXTENSION bloom_ident' && run -f /tmp/readme.sql" >"$WORK/readme.log" 2>&1 || {
    cat "$WORK/readme.log" >&2
    die "the first statements of README.md fail with $package (see above)"
}
ended=${EPOCHREALTIME/./}
grep -q '^ converged | 4000 ' "$WORK/readme.log" || die "not the first result of README.md: $(cat "$WORK/readme.log")"
seconds() { echo "$((($2 - $1) / 1000000)).$((($2 - $1) / 100000 % 10)) s"; }
say "PostgreSQL $MAJOR, $suite: from the empty system to the first result of README.md in $(seconds "$began" "$ended"): apt's lists $(seconds "$began" "$listed")," \
    "installing PostgreSQL and the package $(seconds "$listed" "$installed") (${fetched,}), starting the server and the statements $(seconds "$installed" "$ended")"
((ended - began < 60000000)) || warn 'that is more than a minute'

if [[ -n $before ]]; then
    install_in "$PACKAGES/$file"
    with_server "run -At -c 'ALTER EXTENSION bloom_ident UPDATE' -c \"SELECT 'version ' || extversion FROM pg_extension WHERE extname = 'bloom_ident'\" -c 'SELECT count(*) FROM model, bloom_model_duplicates(\$\$register\$\$, \$\$number\$\$, model)'" \
        >"$WORK/update.log" 2>&1 || {
        cat "$WORK/update.log" >&2
        die "the update from $before fails (see above)"
    }
    grep -qx "version $VERSION" "$WORK/update.log" || die "after the update: $(cat "$WORK/update.log")"
    say "PostgreSQL $MAJOR, $suite: updated from $(basename "$before")"
else
    say "PostgreSQL $MAJOR, $suite: no package of an older version to update from (scripts/release/older.sh makes one)"
fi

in_chroot apt-get -q purge -y "$package" >"$WORK/apt.log" 2>&1 || die "cannot be purged: $(tail -n 5 "$WORK/apt.log")"
left=$(cd "$CHROOT" && find etc usr var/lib opt \( -name '*bloom_ident*' -o -name '*bloom-ident*' \) -print)
[[ -z $left ]] || die "left behind when purged: $left"
say "PostgreSQL $MAJOR, $suite: purged, and nothing is left"
