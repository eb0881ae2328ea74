#!/usr/bin/env bash
# make compare BASE=commit [ROUNDS=5] [ROWS=100000] [PG=15|16|17|18]: what benches/compare/ times, with the library of
# that commit and with this tree's, one after the other in each round over the same tables; medians, and their ratio.

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=scripts/bench-env.sh
source "$here/bench-env.sh"

base=$(git -C "$ROOT" rev-parse --short "${BASE:?make compare BASE=commit}") || die "there is no commit $BASE"
rounds=${ROUNDS:-5}
declare -A library=([here]=$(built_library) [base]=$ROOT/target/compare/$base.so)

# The other commit's library is compiled in a tree of its own, once.
if [[ ! -e ${library[base]} ]]; then
    say "building the extension of $base"
    tree=$ROOT/target/compare/tree target=$ROOT/target/compare/target
    rm -rf "$tree"
    mkdir -p "$tree"
    git -C "$ROOT" archive "$base" | tar -C "$tree" -xf -
    (ROOT=$tree CARGO_TARGET_DIR=$target pg_cargo build -p bloom_ident --profile "$PROFILE")
    install -m 755 "$target/$PROFILE/libbloom_ident.so" "${library[base]}"
fi

# take NAME: from now on the server runs with that library.
take() {
    local place
    place=$("$PGBIN/pg_config" --pkglibdir)/bloom_ident.so
    cluster_stop main
    install -m 755 "${library[$1]}" "$place"
    cluster_start main
}

createdb bench
export PGDATABASE=bench
load_febrl
sql -v rows="${ROWS:-100000}" -f "$ROOT/benches/compare/tables.sql"
for ((round = 1; round <= rounds; round++)); do
    for name in base here; do
        take "$name"
        # The first statement of a session loads the library.
        sql -c "SELECT bloom_sim(sig, sig) FROM person LIMIT 1" >/dev/null
        psql -XAtq -v ON_ERROR_STOP=1 -f "$ROOT/benches/compare/statements.sql" |
            awk -v name="$name" '/^Time:/ { print name "\t" what "\t" $2; next } { what = $0 }'
    done
done >"$SCRATCH/times"

echo "load $(cut -d ' ' -f 1-3 /proc/loadavg); ${ROWS:-100000} records, $rounds rounds; medians in ms"
echo "| statement | $base | this tree | ratio |"
echo '|---|---|---|---|'
awk -F '\t' '
    { n[$1, $2]++; t[$1, $2, n[$1, $2]] = $3; if (!($2 in seen)) { seen[$2]; order[++places] = $2 } }
    function median(name, what,    i, j, m, sorted, x) {
        m = n[name, what]
        for (i = 1; i <= m; i++) {
            x = t[name, what, i]
            for (j = i - 1; j > 0 && sorted[j] > x; j--) sorted[j + 1] = sorted[j]
            sorted[j + 1] = x
        }
        return m % 2 ? sorted[(m + 1) / 2] : (sorted[m / 2] + sorted[m / 2 + 1]) / 2
    }
    END {
        for (i = 1; i <= places; i++) {
            a = median("base", order[i]); b = median("here", order[i])
            printf "| %s | %.1f | %.1f | %.2f |\n", order[i], a, b, b / a
        }
    }' "$SCRATCH/times"
