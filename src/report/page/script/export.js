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

function exportTool() {
  const text = el("textarea", { id: "exported", readonly: true, rows: 8, "aria-label": "Decisions, exported", hidden: true, spellcheck: "false" });
  const link = el("a", { class: "button", hidden: true }, "Download");
  const copy = el("button", { type: "button", class: "plain", hidden: true }, "Copy");
  const note = told({ class: "quiet" });
  let made = null;
  const show = (content, name, type) => {
    const n = store.made.size;
    if (made) URL.revokeObjectURL(made);
    made = URL.createObjectURL(new Blob([content], { type }));
    link.href = made;
    link.download = name;
    text.value = content;
    [text, link, copy].forEach((element) => { element.hidden = n === 0; });
    const formula = name.endsWith(".csv") && hasFormulas()
      ? " Some keys begin as formulas do. They are kept as they are, for COPY: do not open this file in a spreadsheet, or import all columns as text." : "";
    note.textContent = n === 0 ? "There is nothing to export: no pair has been decided here." : `${plural(n, "decision")}.${formula}`;
  };
  const taken = () => { store.exported = true; };
  link.addEventListener("click", taken);
  copy.addEventListener("click", async () => {
    text.select();
    try {
      await navigator.clipboard.writeText(text.value);
    } catch (error) {
      document.execCommand("copy");
    }
    taken();
    note.textContent = "Copied.";
  });
  store.listeners.push(() => [text, link, copy].forEach((element) => { element.hidden = true; }));
  return [el("h3", null, "Export"), el("p", { class: "quiet" }, `What is decided here becomes rows of a table of decisions${report.decisions ? `, such as ${report.decisions}` : ""}.`),
    el("div", { class: "answers" },
      el("button", { type: "button", id: "as-csv", click: () => show(asCsv(), "decisions.csv", "text/csv") }, "CSV"),
      el("button", { type: "button", id: "as-insert", click: () => show(asInsert(), "decisions.sql", "application/sql") }, "INSERT"), link, copy),
    note, text];
}
