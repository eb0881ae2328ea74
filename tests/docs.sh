#!/usr/bin/env bash
# tests/docs.sh [--update] [FILE...]: runs the statements of the documents, which are README.md and docs/*.md.
#
# The ```sql blocks of a document go through one psql session, in order, in a
# new database of that document's. A ```text block directly after one is its
# output and must be equal (apart from trailing blanks); without one the
# statements must raise no error. psql runs in a directory of the test's own, with the folders docs and tests, so that a
# document may read their files and write others.
# <!-- volatile --> before a text block: its content is not compared.
# A document with a line <!-- run by tests/NAME.test.sh --> is left to that script.
# --update writes the real output into the text blocks.
# tests/links.test.sh looks at the rest: links, headings and targets of make.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

update=
if [[ ${1:-} == --update ]]; then
    update=1
    shift
fi
documents=("$@")
((${#documents[@]} > 0)) || documents=("$ROOT/README.md" "$ROOT"/docs/*.md)

ok=0
wrong=0

# find_blocks DOCUMENT: line numbers of its blocks, one sql block per line:
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
    ' "$1"
}

# lines DOCUMENT FROM TO: what is between two fences.
lines() {
    awk -v from="$2" -v to="$3" 'NR > from && NR < to' "$1"
}

# Without blanks at line ends and without empty lines at the start and end.
trimmed() {
    awk '
        { sub(/[ \t\r]+$/, "") }
        $0 == "" { empty++; next }
        { if (started) for (; empty > 0; empty--) print ""; empty = 0; started = 1; print }
    ' "$@"
}

# run_blocks DOCUMENT DATABASE: one session for all blocks; the output of each
# (both streams, in order) is in $work/N.raw.
run_blocks() {
    local document=$1 database=$2 n=0 mark=docs-block-$RANDOM$RANDOM sql_start sql_end
    while read -r sql_start sql_end _; do
        n=$((n + 1))
        printf '\\echo %s %d\n' "$mark" "$n"
        lines "$document" "$sql_start" "$sql_end"
    done <"$work/blocks" >"$work/session.sql"
    dropdb --if-exists "$database" 2>/dev/null
    createdb "$database"
    mkdir "$work/run"
    ln -s "$ROOT/docs" "$ROOT/tests" "$work/run"
    # From standard input, so that messages come without file and line.
    (cd "$work/run" && psql -X -d "$database") <"$work/session.sql" >"$work/session.out" 2>&1 ||
        echo 'psql: the session ended early' >>"$work/session.out"
    dropdb "$database"
    # How far a search is after five seconds depends on the machine.
    awk -v mark="$mark" -v work="$work" '
        /^NOTICE:  bloom_[a-z]+: [0-9]+ % of the comparisons done/ { next }
        $1 == mark { out = work "/" $2 ".raw"; printf "" >out; next }
        out { print >out }
    ' "$work/session.out"
}

has_error() {
    grep -Eq '^(ERROR|FATAL|PANIC): |^psql: |^invalid command |^\\[a-z]+: ' "$1"
}

# not_ok DOCUMENT LINE MESSAGE...
not_ok() {
    local document=$1 line=$2
    shift 2
    printf '%s:%s: %s\n' "${document#"$ROOT"/}" "$line" "$*"
    wrong=$((wrong + 1))
}

check_blocks() {
    local document=$1 n=0 sql_start sql_end text_start text_end volatile out
    while read -r sql_start sql_end text_start text_end volatile; do
        n=$((n + 1))
        out=$work/$n.out
        if [[ ! -e $work/$n.raw ]]; then
            not_ok "$document" "$sql_start" 'not reached'
            continue
        fi
        trimmed "$work/$n.raw" >"$out"
        lines "$document" "$text_start" "$text_end" | trimmed >"$work/$n.expected"
        # An example may fail, but not because another one has used its names.
        if grep -Eq '^ERROR: .* (already exists|does not exist)$' "$out"; then
            not_ok "$document" "$sql_start" 'an object exists already, or does not'
            cat "$out"
        elif has_error "$out" && { ((text_start == 0)) || ! has_error "$work/$n.expected"; }; then
            not_ok "$document" "$sql_start" 'the statements raise an error'
            cat "$out"
        elif ((text_start == 0 || volatile)) || diff -q "$work/$n.expected" "$out" >/dev/null; then
            ok=$((ok + 1))
        else
            not_ok "$document" "$text_start" 'the output differs'
            diff -u --label document "$work/$n.expected" --label output "$out" || true
        fi
    done <"$work/blocks"
}

# Replaces the content of each text block that belongs to a sql block.
update_document() {
    local document=$1 n=0 next=1 text_start text_end
    while read -r _ _ text_start text_end _; do
        n=$((n + 1))
        if ((text_start == 0)) || [[ ! -e $work/$n.raw ]]; then
            continue
        fi
        sed -n "${next},${text_start}p" "$document"
        # A document may show errors, but nobody should write one into it without noticing.
        lines "$document" "$text_start" "$text_end" >"$work/before"
        if has_error "$work/$n.raw" && ! has_error "$work/before"; then
            warn "${document#"$ROOT"/}:$text_start: there is an error now where there was none"
        fi
        trimmed "$work/$n.raw"
        next=$text_end
    done <"$work/blocks" >"$work/updated"
    tail -n "+$next" "$document" >>"$work/updated"
    # cat: keeps the file's owner and permissions.
    cat "$work/updated" >"$document"
}

# run_document DOCUMENT
run_document() {
    local document=$1 name before=$wrong
    name=$(basename "$document" .md)
    work=$(mktemp -d "$SCRATCH/docs.XXXXXX")
    find_blocks "$document" >"$work/blocks"
    if [[ -s $work/blocks ]]; then
        run_blocks "$document" "docs_${name,,}"
        if [[ -n $update ]]; then
            update_document "$document"
            find_blocks "$document" >"$work/blocks"
        fi
        check_blocks "$document"
        printf '%s: %d blocks, %d wrong\n' "${document#"$ROOT"/}" "$(wc -l <"$work/blocks")" $((wrong - before))
    fi
    rm -rf "$work"
}

for document in "${documents[@]}"; do
    if script=$(grep -oxE '<!-- run by tests/[a-z_]+\.test\.sh -->' "$document"); then
        script=$(cut -d' ' -f4 <<<"$script")
        [[ -x $ROOT/$script ]] || not_ok "$document" 1 "$script, which should run it, is missing"
        continue
    fi
    run_document "$document"
done
[[ -z $update ]] || say 'output updated; look at the differences before you commit them'
echo "docs: $ok ok, $wrong wrong"
((wrong == 0))
