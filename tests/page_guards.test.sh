#!/usr/bin/env bash
# Guards of sigfile pages: proper use compiles, and each misuse is refused with the compiler error that is expected on its line. The sources in
# tests/page_guards/ become modules of a copy of the crate, since what they use is private to it.

# shellcheck source=scripts/test-env.sh
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/test-env.sh"

copy=$SCRATCH/page_guards
output=$copy/output
mkdir "$copy"
cp -R "$ROOT"/{access/src,Cargo.lock} "$copy"
# Another name, so that its build is not taken for the crate's own. The crates beside it stay where they are.
{
    printf '[package]\nname = "page_guards"\nversion = "0.0.0"\nedition = "2021"\n\n[workspace]\n\n'
    sed -n "s|{ path = \"\.\./|{ path = \"${ROOT//[&|]/\\&}/|; /^\[features\]/,/^\[lints\]/{/^\[lints\]/!p}" "$ROOT/access/Cargo.toml"
    sed -n '/^\[profile\.[a-z]*\]/,/^$/p' "$ROOT/Cargo.toml"
} >"$copy/Cargo.toml"

# with MODULE: whether the copy compiles when it has this module, too.
with() {
    cp "$ROOT/tests/page_guards/$1.rs" "$copy/src"
    echo "mod $1;" >>"$copy/src/lib.rs"
    pg_cargo check --manifest-path "$copy/Cargo.toml" --offline --lib --profile "$PROFILE" --message-format short >"$output" 2>&1
}

with proper || die "proper use does not compile:
$(grep error "$output" || cat "$output")"
with misuse && die 'misuse compiles'
expected=$(grep -nE '// E[0-9]{4}$' "$ROOT/tests/page_guards/misuse.rs" | sed -E 's/:.* / /')
found=$(sed -nE "s|^src/misuse\.rs:([0-9]+):[0-9]+: error\[(E[0-9]+)\].*|\1 \2|p" "$output" | sort -n)
diff <(echo "$expected") <(echo "$found") || die "misuse is refused in another way (line and error; < expected, > found):
$(grep error "$output")"
# No error is anywhere else.
(($(grep -cE '(: |^)error\[' "$output") == $(wc -l <<<"$expected"))) || die "errors beyond those of misuse:
$(grep error "$output")"
say "page guards: $(wc -l <<<"$expected") misuses are refused"
rm -rf "$copy"
