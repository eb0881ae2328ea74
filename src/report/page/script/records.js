// Two records side by side.

/** A value in its parts: what differs, and what is only written in another way. */
function parts(value, code) {
  if (value === null) return [el("span", { class: "null" }, "null")];
  if (!code) return [value];
  const made = [];
  let at = 0;
  for (const [, length, mark] of code.matchAll(/(\d+)([a-z])/g)) {
    const text = value.slice(at, at + Number(length));
    at += Number(length);
    if (mark === "d") made.push(el("mark", null, text));
    else if (mark === "f") made.push(el("span", { class: "faint" }, text));
    else if (mark === "m") made.push(el("span", { class: "moved", title: "at another place" }, text));
    else if (mark === "g") made.push(el("span", { class: "gap", role: "img", "aria-label": "characters missing" }));
    else made.push(text);
  }
  return made;
}

/** The rows of a pair: for each column both values in parts, and what it says. Those that decide come first. */
function rowsOf(pair) {
  const sides = [records[pair.a], records[pair.b]];
  if (sides.some((record) => record.values === null)) return [];
  const marks = new Map(pair.marks.map(([column, a, b]) => [column, [a, b]]));
  const rows = columns.map(({ name, used, lacking }, i) => {
    const values = sides.map((record) => record.values[i]);
    const codes = marks.get(i) || [null, null];
    // Only what both could have can differ.
    const one = lacking.length === 0 && values.filter((value) => value === null).length === 1;
    const cells = values.map((value, k) => (linked && lacking.includes(k) ? [el("span", { class: "quiet" }, "\u2013")]
      : one && value !== null ? [el("mark", null, value)] : parts(value, codes[k])));
    return { name, used, cells, empty: values.every((value) => value === null || value === ""), says: saying(pair, name, i) };
  });
  const filled = rows.filter((row) => !row.empty);
  return [...filled.filter((row) => row.used), ...filled.filter((row) => !row.used)];
}

/** What a field says: bits by a model, otherwise its similarity. */
function saying(pair, name, i) {
  const reason = report.names.indexOf(name);
  if (hasModel) return reason >= 0 && pair.why ? signed(pair.why.fields[reason][0]) : "";
  return pair.alike[i] === null || pair.alike[i] === undefined ? "" : short(pair.alike[i]);
}

/** How a record is called above its values. */
function heading(record) {
  const [relation, key] = report.relations[linked ? record.side : 0];
  return [linked ? el("span", { class: "quiet" }, `${relation} `) : null, el("span", { class: "quiet" }, `${key} `), shownKey(record)]
    .filter((part) => part !== null);
}

const missing = (record) => `${keyOf(record)} is not there, or not to be seen.`;

function sideBySide(pair) {
  const sides = [records[pair.a], records[pair.b]];
  const rows = rowsOf(pair);
  const lacking = sides.filter((record) => record.values === null);
  const head = el("tr", null, el("td"), ...sides.map((record) => el("th", { scope: "col" }, ...heading(record))),
    el("th", { scope: "col", class: "num quiet" }, hasModel ? "bits" : "similarity"));
  const body = rows.map((row, i) => el("tr", { class: i > 0 && rows[i - 1].used && !row.used ? "apart" : null },
    el("th", { scope: "row", class: row.used ? "used" : null }, row.name),
    ...row.cells.map((cell) => el("td", null, ...cell)), el("td", { class: "num quiet" }, row.says)));
  return el("table", { class: "sides" }, el("thead", null, head), el("tbody", null, ...body,
    ...lacking.map((record) => el("tr", null, el("td", { colspan: 4 }, el("span", { class: "null" }, missing(record)))))));
}

/** Why a pair has its bits: each bar begins where the one above it ends. */
function waterfall({ why }) {
  if (!why) return null;
  const width = 240;
  const reasons = [...why.fields.map(([bits, words], i) => [report.names[i], bits, words]), ...why.beside.map(([name, bits, words]) => [report.words[name], bits, words])];
  let end = 0;
  const spans = reasons.map(([, bits]) => [end, (end += bits)]);
  const [low, high] = [Math.min(0, why.sum, ...spans.flat()), Math.max(0, why.sum, ...spans.flat())];
  const x = (bits) => ((width - 2) * (bits - low)) / Math.max(high - low, 1e-9) + 1;
  const bar = (from, to, name) => draw("svg", { class: "fall", viewBox: `0 0 ${width} 12`, "aria-hidden": "true" },
    draw("line", { class: "axis", x1: x(0), x2: x(0), y1: 0, y2: 12 }),
    draw("rect", { class: name, x: Math.min(x(from), x(to)), y: 2, width: Math.abs(x(to) - x(from)), height: 8 }));
  const row = (name, from, to, kind, bits, words) => el("tr", null, el("th", { scope: "row" }, name),
    el("td", null, bar(from, to, kind)), el("td", { class: "num" }, signed(bits)), el("td", { class: "quiet words" }, words));
  const rows = reasons.map(([name, bits, words], i) => row(name, ...spans[i], bits < 0 ? "against" : "for", bits, report.words[words]));
  rows.push(row("sum", 0, why.sum, "sum", why.sum, `probability ${why.probability}`));
  return el("details", { class: "reasons", open: true }, el("summary", null, "Why, in bits"), el("table", { class: "why" }, el("tbody", null, ...rows)));
}
