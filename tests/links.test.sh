#!/usr/bin/env bash
# tests/links.test.sh [--update]: every link of the documents leads to a file or a heading that is there, every
# "make TARGET" that they name exists, so does every file of the code, and docs/README.md lists every heading. --update writes that list. Needs no server.

# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"

cd "$ROOT" || exit
contents=docs/README.md
shopt -s nullglob globstar
documents=(README.md CONTRIBUTING.md ARCHITECTURE.md CHANGELOG.md docs/**/*.md)
begin='<!-- contents: written by tests/links.test.sh --update -->'
wrong=0
not_ok() {
    printf '%s\n' "$*"
    wrong=$((wrong + 1))
}

# headings DOCUMENT: level, a tab, text. Not what stands in blocks of code.
headings() {
    awk '/^[ ]*```/ { code = !code; next } !code && /^#+ / { n = match($0, / /); print n - 1 "\t" substr($0, n + 1) }' "$1"
}

# Standard input, a heading a line: its anchor as GitHub makes it. Of equal ones the later get a number.
anchors() {
    sed -E 's/\[([^]]*)\]\([^)]*\)/\1/g' | tr '[:upper:]' '[:lower:]' | sed -E 's/[^[:alnum:]_ -]//g; s/ /-/g' |
        awk '{ print $0 (n[$0] ? "-" n[$0] : ""); n[$0]++ }'
}

# The list: each document of docs/ and README.md, with its headings indented by level.
list() {
    local document path level text anchor
    for document in README.md docs/**/*.md; do
        [[ -e $document && $document != "$contents" ]] || continue
        path=${document#docs/}
        [[ $document == docs/* ]] || path=../$document
        while IFS=$'\t' read -r level text anchor; do
            if ((level == 1)); then
                printf '\n- **[%s](%s)**\n' "$text" "$path"
            else
                printf '%*s- [%s](%s#%s)\n' $(((level - 1) * 2)) '' "$text" "$path" "$anchor"
            fi
        done < <(paste <(headings "$document") <(headings "$document" | cut -f2 | anchors))
    done
}

# links DOCUMENT: the targets of its links and pictures, none of them on the network.
links() {
    # Code is left out, since what looks like a link there is none. Links may go over two lines.
    awk '/^[ ]*```/ { code = !code; next } !code' "$1" | tr '\n' ' ' | sed 's/`[^`]*`//g' |
        grep -oE '\]\([^)]+\)|(src|href)="[^"]+"' | sed -E 's/^\]\(|\)$//g; s/^(src|href)="|"$//g' | grep -vE '^[a-z]+:' | sort -u
}

check_links() {
    local document=$1 target file anchor
    while read -r target; do
        file=${target%%#*}
        if [[ -z $file ]]; then
            file=$document
        else
            file=$(realpath -m --relative-to=. "$(dirname "$document")/$file")
        fi
        if [[ ! -e $file ]]; then
            not_ok "$document: no file $file"
        elif [[ $target == *'#'* ]]; then
            anchor=${target#*#}
            grep -qxF -- "$anchor" < <(headings "$file" | cut -f2 | anchors) ||
                not_ok "$document: $file has no heading #$anchor"
        fi
    done < <(links "$document")
}

# named_targets DOCUMENT: of make, in blocks of sh and in inline code, without variables and options.
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
    ' "$1" | grep -oE '(^|[[:space:];&(])make( +[A-Za-z_]+=[^ ]*| +-[A-Za-z]+)* +[a-z][a-z-]*' |
        sed 's/.* //' | sort -u
}

check_targets() {
    local target
    while read -r target; do
        MAKEFLAGS='' make -n "$target" >/dev/null 2>&1 || not_ok "$1: make has no target $target"
    done < <(named_targets "$1")
}

# Files and folders of the code that the documents for developers name. NAME in capitals stands for any.
check_paths() {
    local path
    while read -r path; do
        [[ -e $path ]] || not_ok "$1: no file or folder $path"
    done < <(grep -oE '`(\.ci|src|core|tests|scripts|docs|macros|benches|demo|fuzz|sql)/[A-Za-z0-9_./-]*`' "$1" | tr -d '`' | grep -v NAME | sort -u)
}

if [[ ${1:-} == --update ]]; then
    updated=$(awk -v begin="$begin" '{ print } $0 == begin { exit }' "$contents" && list)
    printf '%s\n' "$updated" >"$contents"
fi
for document in "${documents[@]}"; do
    [[ -e $document ]] || continue
    check_links "$document"
    check_targets "$document"
    [[ $document == docs/* && $document != docs/decisions/* ]] || [[ $document == CHANGELOG.md ]] || check_paths "$document"
done
# What is listed must be all that there is, no more and no less.
diff <(awk -v begin="$begin" 'found { print } $0 == begin { found = 1 }' "$contents") <(list) ||
    not_ok "$contents does not list the headings as they are: tests/links.test.sh --update writes them"
((wrong == 0)) || die "$wrong mistakes in links, headings, paths or targets of make"
