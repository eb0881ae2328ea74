// What the report has found, as the page has it.

const source = document.getElementById("report-data");
const report = JSON.parse(source.textContent);
const { records, pairs, columns, counts, groups } = report;
const linked = report.relations.length > 1;
const hasModel = report.names.length > 0;

/** What can be decided, by the name that a table of decisions has. */
const VERDICTS = { same: "Same", different: "Different", unsure: "Unsure" };

/** 1234567 as 1,234,567. */
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/** "1 pair", "2 pairs". */
const plural = (n, what) => `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;

/** A similarity with three digits; one that is not 1 is not shown as 1. */
const short = (x) => (x >= 1 ? "1" : (Math.floor(x * 1000 + 1e-9) / 1000).toFixed(3));

/** A threshold with as many digits as it has. */
const exact = (x) => (Math.abs(x * 100 - Math.round(x * 100)) < 1e-9 ? x.toFixed(2) : String(x));

/** Bits with their sign. */
const signed = (bits) => (Math.abs(bits) < 0.05 ? "0.0" : (bits > 0 ? "+" : "\u2212") + Math.abs(bits).toFixed(1));

/** What people call the value of a pair, with a capital letter. */
const Measure = report.measure[0].toUpperCase() + report.measure.slice(1);

/** The record's key with the letter of its table, where there are two. */
const keyOf = (record) => (linked ? `${"ab"[record.side]} ${record.key}` : record.key);

/** Whether what was decided about a pair before still holds. */
const holds = (pair) => pair.was !== null && !pair.stale;
