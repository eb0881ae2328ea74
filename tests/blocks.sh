# shellcheck shell=bash
# Sourced by tests/nodes.test.sh and tests/citus_others.test.sh: blocks of docs/nodes.md, whose first line names the server that they are run on,
# each in a session of its own. The text block after one is its output.
#
#   blocks_check DOCUMENT SERVER... [-- SERVER...]   runs the blocks of the first servers, in order, and compares their output; others may have those behind --
#   blocks_update DOCUMENT                           writes the output into the document instead, after blocks_check
#
# A block of server S goes through the function "asked" to the function on_S, whose output goes through the function "shown". $blocks_work and
# $blocks_wrong are for both.

asked() { cat; }
shown() { cat; }

# blocks_check DOCUMENT SERVER... [-- SERVER...]
blocks_check() {
    local document=$1 blocks n server own='' others=''
    shift
    while (($# > 0)) && [[ $1 != -- ]]; do
        own+=" $1 "
        shift
    done
    others=" ${*:2} "
    blocks_work=$(mktemp -d "$SCRATCH/blocks.XXXXXX")
    blocks_wrong=0
    # Block N of the document becomes N.sql and the text after it N.text.
    awk -v work="$blocks_work" '
        /^```/ && fence { close(out); fence = ""; next }
        fence == "sql" || fence == "text" { print >out; next }
        fence { next }
        /^```sql$/ { fence = "sql"; n++; out = work "/" n ".sql"; printf "" >out; next }
        /^```text$/ { fence = "text"; out = work "/" n ".text"; printf "" >out; next }
        /^```/ { fence = "other" }
    ' "$document"
    blocks=$(find "$blocks_work" -name '*.sql' | wc -l)
    ((blocks > 0)) || die "$document has no statements"
    for ((n = 1; n <= blocks; n++)); do
        [[ -e $blocks_work/$n.text ]] || die "block $n of $document has no output: $(cat "$blocks_work/$n.sql")"
        server=$(sed -n '1s/^-- on \([a-z0-9]*\)$/\1/p' "$blocks_work/$n.sql")
        if [[ -n $server && $others == *" $server "* ]]; then
            continue
        fi
        [[ -n $server && $own == *" $server "* ]] || die "block $n of $document does not say where it is run: $(cat "$blocks_work/$n.sql")"
        # From standard input, so that messages come without file and line.
        asked <"$blocks_work/$n.sql" | "on_$server" 2>&1 | shown | sed -e 's/[[:blank:]]*$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$blocks_work/$n.out"
        if ! cmp -s "$blocks_work/$n.text" "$blocks_work/$n.out"; then
            diff -u --label "$document, block $n" "$blocks_work/$n.text" --label output "$blocks_work/$n.out" || true
            blocks_wrong=$((blocks_wrong + 1))
        fi
    done
}

# blocks_update DOCUMENT: the text of blocks that were not run stays.
blocks_update() {
    awk -v work="$blocks_work" '
        /^```/ && fence {
            if (fence == "text") {
                name = (getline line <out) < 0 ? out_before : out
                close(out)
                while ((getline line <name) > 0) print line
                close(name)
            }
            print; fence = ""; next
        }
        fence == "text" { next }
        { print }
        fence { next }
        /^```sql$/ { fence = "sql"; n++; next }
        /^```text$/ { fence = "text"; out = work "/" n ".out"; out_before = work "/" n ".text"; next }
        /^```/ { fence = "other" }
    ' "$1" >"$blocks_work/updated"
    cat "$blocks_work/updated" >"$1"
    say "$1: output updated; look at the difference before you commit it"
}
