// What the report has found, as the page has it.

const source = document.getElementById("report-data");
const report = JSON.parse(source.textContent);
const { records, pairs, columns, counts, groups } = report;
const linked = report.relations.length > 1;
const hasModel = report.names.length > 0;
/** Whether the page is about entities, by the pairs that alone hold them together. */
const ofEntities = report.holding !== undefined;
const [GROUP, GROUPS, CLUSTER] = ofEntities ? ["Entity", "Entities", "entity"] : ["Group", "Groups", "cluster"];

/** What can be decided, by the name that a table of decisions has. */
const VERDICTS = { same: "Same", different: "Different", unsure: "Unsure" };

/** 1234567 as 1,234,567. */
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/** "1 pair", "2 pairs". */
const plural = (n, what) => `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;

/** A similarity with three digits, as the report shows it elsewhere; one that is not 1 is not shown as 1. */
const short = (x) => (x >= 1 ? "1" : (Math.min(Math.floor(x * 1000 + 1e-9), 999) / 1000).toFixed(3));

/** A threshold with as many digits as it has. */
const exact = (x) => (Math.abs(x * 100 - Math.round(x * 100)) < 1e-9 ? x.toFixed(2) : String(x));

/** Bits with their sign, as the report shows them elsewhere. */
function signed(bits) {
  const tenths = Math.round(Math.abs(bits) * 10);
  return tenths === 0 ? "0.0" : (bits > 0 ? "+" : "\u2212") + (tenths / 10).toFixed(1);
}

/** What people call the value of a pair, with a capital letter. */
const Measure = report.measure[0].toUpperCase() + report.measure.slice(1);

/** A key for the reader: without characters that would not be seen, or that would move others, and not too long. The export has it as it is. */
function shownKey(record) {
  const key = record.key.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
  if (key === "") return "(empty)";
  return key.length > 80 ? `${[...key].slice(0, 80).join("")}...` : key;
}

/** The same with the letter of its table, where there are two. */
const keyOf = (record) => (linked ? `${"ab"[record.side]} ${shownKey(record)}` : shownKey(record));

/** Whether what was decided about a pair before still holds. */
const holds = (pair) => pair.was !== null && !pair.stale;
