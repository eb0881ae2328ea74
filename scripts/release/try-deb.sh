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
    in_chroot apt-get -q install -y "/tmp/$(basename "$1")" >"$BUILT/apt.log" 2>&1 || {
        tail -n 20 "$BUILT/apt.log" >&2
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
    in_chroot sh -c 'apt-get -q update && apt-get -q install -y /tmp/postgresql-16.deb' >"$BUILT/apt.log" 2>&1 || {
        tail -n 20 "$BUILT/apt.log" >&2
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
in_chroot apt-get -q update >"$BUILT/apt.log" 2>&1
listed=${EPOCHREALTIME/./}
install_in "${before:-$PACKAGES/$file}"
installed=${EPOCHREALTIME/./}
fetched=$(grep '^Fetched ' "$BUILT/apt.log") || fetched='nothing fetched'
with_server "run -q -c 'CREATE EXTENSION bloom_ident' && run -f /tmp/readme.sql" >"$BUILT/readme.log" 2>&1 || {
    cat "$BUILT/readme.log" >&2
    die "the first statements of README.md fail with $package (see above)"
}
ended=${EPOCHREALTIME/./}
grep -q '^ converged | 4000 ' "$BUILT/readme.log" || die "not the first result of README.md: $(cat "$BUILT/readme.log")"
seconds() { echo "$((($2 - $1) / 1000000)).$((($2 - $1) / 100000 % 10)) s"; }
say "PostgreSQL $MAJOR, $suite: from the empty system to the first result of README.md in $(seconds "$began" "$ended"): apt's lists $(seconds "$began" "$listed")," \
    "installing PostgreSQL and the package $(seconds "$listed" "$installed") (${fetched,}), starting the server and the statements $(seconds "$installed" "$ended")"
((ended - began < 60000000)) || warn 'that is more than a minute'

if [[ -n $before ]]; then
    # A session that has loaded the library of before goes on beside those that load this one, before the update and after it. What each does in turn is the same, and right:
    # it enters a row, which the index finds afterwards as a scan does; the guard refuses the row next to it; the model has the pairs that it had.
    cp "$PACKAGES/$file" "$CHROOT/tmp/"
    cat >"$CHROOT/tmp/held.sql" <<'END'
CREATE TABLE held (number serial PRIMARY KEY, name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
INSERT INTO held (name) SELECT given_name || ' ' || surname FROM register;
CREATE INDEX held_sig ON held USING sigfile (sig);
CREATE TABLE guarded (name text, sig bloom GENERATED ALWAYS AS (bloom_signature(name)) STORED);
SELECT bloom_guard_create('guarded', 'sig', 0.7, 'reject');
INSERT INTO guarded VALUES ('Friederike Umlauf');
END
    cat >"$CHROOT/tmp/turn.sql" <<'END'
INSERT INTO held (name) VALUES ('Friederike Umlauf');
SET enable_seqscan = off;
CREATE TEMP TABLE by_index AS SELECT number FROM held WHERE bloom_sim(sig, bloom_signature('Friederike Umlauf')) > 0.3;
SET enable_bitmapscan = off; RESET enable_seqscan;
SELECT 'found', (SELECT count(*) > 1 FROM by_index), NOT EXISTS ((SELECT number FROM held WHERE bloom_sim(sig, bloom_signature('Friederike Umlauf')) > 0.3) EXCEPT SELECT number FROM by_index),
    NOT EXISTS (SELECT number FROM by_index EXCEPT (SELECT number FROM held WHERE bloom_sim(sig, bloom_signature('Friederike Umlauf')) > 0.3));
RESET enable_bitmapscan;
DROP TABLE by_index;
SELECT 'equal', count(DISTINCT sig::text) FROM held WHERE name = 'Friederike Umlauf';
INSERT INTO guarded VALUES ('Friederike Umlauff');
SELECT 'guarded', count(*) FROM guarded;
SELECT 'pairs', count(*), sum(hashtextextended(p::text, 0)) FROM model, bloom_model_duplicates('register', 'number', model) AS p;
\echo done
END
    with_server "
        run -q -f /tmp/held.sql
        mkfifo -m 666 /tmp/asked
        runuser -u postgres -- psql -XAt </tmp/asked >/tmp/old.log 2>&1 &
        exec 3>/tmp/asked
        # turns N: the session of before takes its turn, and a new one takes it where there is another library.
        turns() {
            cat /tmp/turn.sql >&3
            for i in \$(seq 600); do [ \$(grep -cx done /tmp/old.log) -lt \$1 ] || break; sleep 0.1; done
            [ \$1 -eq 1 ] || runuser -u postgres -- psql -XAt -f /tmp/turn.sql >>/tmp/new.log 2>&1
        }
        turns 1
        apt-get -q install -y /tmp/$file >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log; exit 1; }
        turns 2
        run -At -c 'ALTER EXTENSION bloom_ident UPDATE' -c \"SELECT 'version ' || extversion FROM pg_extension WHERE extname = 'bloom_ident'\"
        turns 3
        exec 3>&-
        wait" >"$BUILT/update.log" 2>&1 || {
        cat "$BUILT/update.log" >&2
        die "the update from $before fails (see above)"
    }
    grep -qx "version $VERSION" "$BUILT/update.log" || die "after the update: $(cat "$BUILT/update.log")"
    # What a session says in its turn, without the file and the line of the one that reads a file, in which it may say where an error was.
    turn() { sed -E 's/^psql:[^ ]* //; /^(LOCATION|CONTEXT): /d' "$CHROOT/tmp/$1.log" | grep -E '^(found|equal|guarded|pairs|ERROR)'; }
    one=$(turn old | sed '/^pairs/q')
    [[ $(grep -cxE 'found\|t\|t\|t|equal\|1|guarded\|1|pairs\|[1-9].*' <<<"$one") == 4 && $(grep -c '^ERROR' <<<"$one") == 1 ]] || die "with the library of before: $one"
    [[ $(turn old) == "$one"$'\n'"$one"$'\n'"$one" && $(turn new) == "$one"$'\n'"$one" ]] ||
        die "a session that has loaded the library of $before says $(turn old), and those with this one say $(turn new)"
    say "PostgreSQL $MAJOR, $suite: updated from $(basename "$before"), beside a session that goes on with the library of before"
else
    say "PostgreSQL $MAJOR, $suite: no package of an older version to update from (scripts/release/older.sh makes one)"
fi

in_chroot apt-get -q purge -y "$package" >"$BUILT/apt.log" 2>&1 || die "cannot be purged: $(tail -n 5 "$BUILT/apt.log")"
left=$(cd "$CHROOT" && find etc usr var/lib opt \( -name '*bloom_ident*' -o -name '*bloom-ident*' \) -print)
[[ -z $left ]] || die "left behind when purged: $left"
say "PostgreSQL $MAJOR, $suite: purged, and nothing is left"
