#!/usr/bin/env bash
# scripts/release/copyright.sh: prints the licence of bloom_ident and those of all that is in its library, as a Debian package has them: a licence
# that every Debian system has the text of is named by its file there.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

cat "$ROOT/packaging/debian/copyright.head" "$ROOT/LICENSE"
cat <<'END'

================================================================================
The standard library of Rust

Copyright (c) The Rust Project Contributors, MIT or Apache-2.0, by choice of who
uses it; here the terms of MIT, whose text is below, for example behind
"libc".

================================================================================
END
# A section begins with a line of "=" and the names that it is for.
awk '
    function put() {
        if (text ~ /TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION/) named("Apache License, version 2.0", "Apache-2.0")
        else if (text ~ /Mozilla Public License Version 2.0/) named("Mozilla Public License, version 2.0", "MPL-2.0")
        else printf "%s", text
        text = ""
    }
    function named(licence, file) {
        printf "%s\n%s\n\n%s\nOn Debian systems the text of the %s,\nis in /usr/share/common-licenses/%s.\n\n", line, names, notice(), licence, file
    }
    # What a crate says above the terms or beside them, such as who holds the copyright.
    function notice(    i, n, lines, found) {
        n = split(text, lines, "\n")
        for (i = 1; i <= n; i++) if (lines[i] ~ /^ *Copyright .*[0-9][0-9][0-9][0-9]/ && lines[i] !~ /[[{]yyyy[]}]/) found = found lines[i] "\n"
        return found
    }
    /^=+$/ && length($0) == 80 { put(); line = $0; getline; names = $0; text = line "\n" names "\n"; next }
    { text = text $0 "\n" }
    END { put() }
' "$ROOT/THIRD-PARTY.txt"
