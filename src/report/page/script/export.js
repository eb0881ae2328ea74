// Decisions as CSV for COPY, and as a statement. Both have the keys exactly as they are.

/** The decisions made here, in the order of the pairs. */
function decisionsMade() {
  return [...store.made].sort(([i], [j]) => i - j).map(([i, { verdict, at }]) => {
    const [a, b] = [records[pairs[i].a], records[pairs[i].b]];
    return { a: a.key, b: b.key, decision: verdict, at, hash: a.hash && b.hash ? `${a.hash} ${b.hash}` : null };
  });
}

const hasHashes = () => records.some((record) => record.hash);
const columnsOut = () => ["a", "b", "decision", "at", ...(hasHashes() ? ["hash"] : [])];

/** A field of CSV. It is always quoted, so that an empty key stays one; what is not there is nothing. */
const csvField = (value) => (value === null ? "" : `"${value.replace(/"/g, '""')}"`);

function asCsv() {
  const names = columnsOut();
  return [names.join(","), ...decisionsMade().map((row) => names.map((name) => csvField(row[name])).join(","))].join("\n") + "\n";
}

/** A string constant that reads the same whatever the settings and the encoding of the session are: with a backslash or beyond ASCII it is E'...'. */
function literal(value) {
  if (value === null) return "NULL";
  const plain = value.replace(/'/g, "''");
  if (/^[ -\[\]-~]*$/.test(plain)) return `'${plain}'`;
  const escaped = plain.replace(/\\/g, "\\\\").replace(/[^ -~]/gu, (c) => {
    const code = c.codePointAt(0);
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
  return `E'${escaped}'`;
}

function asInsert() {
  const made = decisionsMade();
  if (made.length === 0) return "";
  const names = columnsOut();
  const rows = made.map((row) => `    (${names.map((name) => literal(row[name])).join(", ")})`);
  return `INSERT INTO ${report.decisions || "decisions"} (${names.join(", ")}) VALUES\n${rows.join(",\n")};\n`;
}

/** Whether a spreadsheet would take a key for a formula. */
const hasFormulas = () => decisionsMade().some(({ a, b }) => /^[=+\-@\t\r]/.test(a) || /^[=+\-@\t\r]/.test(b));

/** Has the browser keep a file. */
function download(content, name, type) {
  const href = URL.createObjectURL(new Blob([content], { type }));
  el("a", { href, download: name }).click();
  // The browser has it by then.
  setTimeout(() => URL.revokeObjectURL(href), 60000);
}

/** Copies a text, in one way or another; whether that is possible. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (error) {
    const field = el("textarea", { class: "hidden", "aria-hidden": "true" }, text);
    view.bar.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

/** Buttons that take the decisions along. */
function exportTools() {
  const taken = (words) => {
    store.exported = true;
    view.say(`${plural(store.made.size, "decision")} ${words}.`);
  };
  const file = el("button", { type: "button", id: "download", title: "Decisions as CSV, for COPY", click: () => {
    download(asCsv(), "decisions.csv", "text/csv");
    taken(`in decisions.csv${hasFormulas() ? ". Some keys look like formulas: do not open this file in a spreadsheet" : ""}`);
  } }, "Download");
  const copy = el("button", { type: "button", id: "copy", title: "Decisions as an INSERT statement, to paste", click: async () => {
    if (await copied(asInsert())) taken("copied as an INSERT statement");
    else view.say("This browser does not let the page copy. Download the decisions instead.");
  } }, "Copy");
  const buttons = [file, copy];
  const show = () => buttons.forEach((button) => { button.disabled = store.made.size === 0; });
  store.listeners.push(show);
  show();
  return buttons;
}
