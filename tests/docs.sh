#!/usr/bin/env bash
# tests/docs.sh [--update]: runs README.md.
#
# The ```sql blocks go through one psql session, in order, in a new database
# "readme". A ```text block directly after one is its output and must be equal
# (apart from trailing blanks); without one the statements must raise no error.
# <!-- volatile --> before a text block: its content is not compared.
# Every "make TARGET" that README.md names must exist.
# --update writes the real output into the text blocks.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

readme=$ROOT/README.md
update=
[[ ${1:-} != --update ]] || update=1

work=$(mktemp -d "$SCRATCH/readme.XXXXXX")
ok=0
wrong=0

# Line numbers of the blocks, one sql block per line, in $work/blocks:
#   sql_start sql_end text_start text_end volatile
# (of the fences; text_start 0: no text block follows).
find_blocks() {
    awk '
        function flush() {
            if (have) print sql_start, sql_end, 0, 0, 0
            have = 0
        }
        fence && /^```[ \t]*$/ {
            if (fence == "sql") { have = 1; sql_end = NR; volatile = 0 }
            if (fence == "text" && have) { print sql_start, sql_end, text_start, NR, volatile; have = 0 }
            fence = ""
            next
        }
        fence { next }
        /^```text[ \t]*$/ { fence = "text"; text_start = NR; next }
        /^```/ {
            flush()
            fence = /^```sql[ \t]*$/ ? "sql" : "other"
            if (fence == "sql") sql_start = NR
            next
        }
        /^<!-- volatile -->[ \t]*$/ { volatile = 1 }
        /^[ \t]*$|^<!--.*-->[ \t]*$/ { next }
        { flush() }
        END { flush() }
    ' "$readme" >"$work/blocks"
}

# lines FROM TO: what is between two fences.
lines() {
    awk -v from="$1" -v to="$2" 'NR > from && NR < to' "$readme"
}

# Without blanks at line ends and without empty lines at the start and end.
trimmed() {
    awk '
        { sub(/[ \t\r]+$/, "") }
        $0 == "" { empty++; next }
        { if (started) for (; empty > 0; empty--) print ""; empty = 0; started = 1; print }
    ' "$@"
}

# One session for all blocks; each one's output (both streams, in order) in $work/N.out.
run_blocks() {
    local n=0 sql_start sql_end
    while read -r sql_start sql_end _; do
        n=$((n + 1))
        printf '\\echo %s %d\n' "$mark" "$n"
        lines "$sql_start" "$sql_end"
    done <"$work/blocks" >"$work/session.sql"
    dropdb --if-exists readme 2>/dev/null
    createdb readme
    # From standard input, so that messages come without file and line.
    (cd "$ROOT" && psql -X -d readme) <"$work/session.sql" >"$work/session.out" 2>&1 ||
        echo 'psql: the session ended early' >>"$work/session.out"
    awk -v mark="$mark" -v work="$work" '
        $1 == mark { out = work "/" $2 ".raw"; printf "" >out; next }
        out { print >out }
    ' "$work/session.out"
}

has_error() {
    grep -Eq '^(ERROR|FATAL|PANIC): |^psql: |^invalid command |^\\[a-z]+: ' "$1"
}

# not_ok LINE MESSAGE...: also the end of the reason, if there is a file of it.
not_ok() {
    local line=$1
    shift
    printf 'README.md:%s: %s\n' "$line" "$*"
    wrong=$((wrong + 1))
}

check_blocks() {
    local n=0 sql_start sql_end text_start text_end volatile out
    while read -r sql_start sql_end text_start text_end volatile; do
        n=$((n + 1))
        out=$work/$n.out
        if [[ ! -e $work/$n.raw ]]; then
            not_ok "$sql_start" 'not reached'
            continue
        fi
        trimmed "$work/$n.raw" >"$out"
        lines "$text_start" "$text_end" | trimmed >"$work/$n.expected"
        # An example may fail, but not since another one has used its names.
        if grep -Eq '^ERROR: .* (already exists|does not exist)$' "$out"; then
            not_ok "$sql_start" 'an object exists already, or does not'
            cat "$out"
        elif has_error "$out" && { ((text_start == 0)) || ! has_error "$work/$n.expected"; }; then
            not_ok "$sql_start" 'the statements raise an error'
            cat "$out"
        elif ((text_start == 0 || volatile)) || diff -q "$work/$n.expected" "$out" >/dev/null; then
            ok=$((ok + 1))
        else
            not_ok "$text_start" 'the output differs'
            diff -u --label README.md "$work/$n.expected" --label output "$out" || true
        fi
    done <"$work/blocks"
}

# Targets in sh blocks and in inline code, without variables and options.
named_targets() {
    awk '
        /^```/ { shell = !fence && /^```(sh|bash|shell|console)/; fence = !fence; next }
        shell { sub(/#.*/, ""); print }
        !fence {
            while (match($0, /`[^`]+`/)) {
                print substr($0, RSTART + 1, RLENGTH - 2)
                $0 = substr($0, RSTART + RLENGTH)
            }
        }
    ' "$readme" | grep -oE '(^|[[:space:];&(])make( +[A-Za-z_]+=[^ ]*| +-[A-Za-z]+)* +[a-z][a-z-]*' |
        sed 's/.* //' | sort -u
}

check_targets() {
    local target
    while read -r target; do
        if MAKEFLAGS='' make -C "$ROOT" -n "$target" >/dev/null 2>&1; then
            ok=$((ok + 1))
        else
            not_ok "$(grep -nm 1 "make.* $target" "$readme" | cut -d: -f1)" "make has no target $target"
        fi
    done < <(named_targets)
}

# Replaces the content of each text block that belongs to a sql block.
update_readme() {
    local n=0 next=1 text_start text_end
    while read -r _ _ text_start text_end _; do
        n=$((n + 1))
        if ((text_start == 0)) || [[ ! -e $work/$n.raw ]]; then
            continue
        fi
        sed -n "${next},${text_start}p" "$readme"
        trimmed "$work/$n.raw"
        next=$text_end
    done <"$work/blocks" >"$work/README.md"
    tail -n "+$next" "$readme" >>"$work/README.md"
    # cat: keeps the file's owner and permissions.
    cat "$work/README.md" >"$readme"
    say 'README.md: output updated; look at the difference before you commit it'
}

mark=readme-block-$RANDOM$RANDOM
find_blocks
run_blocks
if [[ -n $update ]]; then
    update_readme
    find_blocks
fi
check_blocks
check_targets
rm -rf "$work"
echo "readme: $ok ok, $wrong wrong"
((wrong == 0))
