// The pair that is looked at, and what is decided about it.

const KEYS = { y: "same", n: "different", u: "unsure" };
const current = { queue: [], at: 0 };
const view = {};

/** The pair that is looked at; none if nothing is wanted. */
const pairAt = () => pairs[current.queue[current.at]];

/** What hangs by a pair alone. */
const heldBy = ({ number, parts: [a, b] }) =>
  `Entity ${number} hangs by this pair alone: without it, its ${plural(a + b, "record")} fall into ${grouped(a)} and ${grouped(b)}.`;

/** What is known of a pair besides its records. */
function knownOf(pair) {
  const known = [];
  const before = pair.was === null ? "" : `${pair.was} before`;
  const made = store.made.get(pair.number);
  if (made) known.push(el("strong", { class: `verdict ${made.verdict}` }, VERDICTS[made.verdict]));
  if (pair.stale) known.push(el("span", { class: "stale" }, `Judged ${before}, and changed since: decide again.`));
  else if (before) known.push(el("span", { class: "quiet" }, `Judged ${before}.`));
  if (pair.true !== null) known.push(el("span", { class: "quiet" }, pair.true ? "True by the truth." : "Not true by the truth."));
  if (pair.held) known.push(el("span", { class: "quiet" }, heldBy(pair.held)));
  else if (pair.cluster > 0) known.push(el("span", { class: "quiet" }, `Cluster ${pair.cluster}.`));
  else if (pair.value >= report.threshold) known.push(el("span", { class: "quiet" }, "In two clusters."));
  return known;
}

function showPair() {
  const pair = pairAt();
  const n = current.queue.length;
  view.place.textContent = n === 0 ? "No such pairs" : `Pair ${grouped(current.at + 1)} of ${grouped(n)}`;
  const decided = current.queue.filter((i) => !isOpen(pairs[i])).length;
  view.progress.textContent = n === 0 ? "" : `${grouped(decided)} of ${grouped(n)} decided.`;
  view.buttons.forEach((button) => {
    button.disabled = !pair;
    const verdict = button.dataset.verdict;
    if (verdict) button.setAttribute("aria-pressed", String(Boolean(pair) && store.verdict(pair) === verdict));
  });
  if (!pair) {
    view.pair.replaceChildren(el("p", { class: "quiet" }, "Nothing is left here. Choose other pairs above, or export what is decided."));
    return;
  }
  const line = el("p", { class: "about" }, el("span", { class: "n" }, short(pair.value)), el("span", { class: "quiet" }, report.measure), ...knownOf(pair));
  view.pair.replaceChildren(line, narrow.matches ? cards(pair) : sideBySide(pair), ...[waterfall(pair)].filter(Boolean));
}

/** Goes by so many pairs. */
function step(by) {
  current.at = Math.max(0, Math.min(current.queue.length - 1, current.at + by));
  showPair();
}

function decide(verdict) {
  const pair = pairAt();
  if (!pair) return;
  store.decide(pair.number, verdict);
  view.told.textContent = verdict === null ? "Taken back." : `${VERDICTS[verdict]}: ${keyOf(records[pair.a])} and ${keyOf(records[pair.b])}.`;
  if (verdict !== null && current.at + 1 < current.queue.length) current.at += 1;
  showPair();
}

/** Takes the pairs that are wanted now. */
function choosePairs(first) {
  current.queue = chosenPairs();
  current.at = Math.max(0, first === undefined ? 0 : current.queue.indexOf(first));
  showPair();
}

/** Keys decide wherever nothing is typed or chosen. */
function onKey(event) {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, textarea, input:not([type=range])")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const moves = { j: 1, k: -1 };
  if (target.type !== "range") Object.assign(moves, { ArrowRight: 1, ArrowLeft: -1 });
  if (KEYS[key]) decide(KEYS[key]);
  else if (key === "x") decide(null);
  else if (moves[key]) step(moves[key]);
  else if (key === "?") view.help.open = !view.help.open;
  else return;
  event.preventDefault();
}

function pairTool() {
  const button = (text, key, act, attributes) => el("button", { type: "button", click: act, "aria-keyshortcuts": key, ...attributes },
    text, el("kbd", { "aria-hidden": "true" }, key));
  const answers = Object.entries(KEYS).map(([key, verdict]) =>
    button(VERDICTS[verdict], key, () => decide(verdict), { class: `answer ${verdict}`, "data-verdict": verdict, "aria-pressed": "false" }));
  const back = button("Previous", "k", () => step(-1), null);
  const next = button("Next", "j", () => step(1), null);
  const undo = button("Take back", "x", () => decide(null), { class: "plain" });
  view.buttons = [...answers, back, next, undo];
  view.place = el("h3", { id: "pair-place" });
  view.progress = el("span", { class: "quiet" });
  view.told = told({ class: "hidden" });
  view.pair = el("div", { id: "pair", role: "group", "aria-labelledby": "pair-place" });
  view.help = el("details", { class: "help" }, el("summary", null, "Keys and marks"), el("ul", null,
    ...[["y", "the same person or thing"], ["n", "different"], ["u", "unsure"], ["x", "take back what is decided here"], ["j", "next pair, also the right arrow"], ["k", "previous pair, also the left arrow"], ["?", "this list"]]
      .map(([key, words]) => el("li", null, el("kbd", null, key), ` ${words}`))),
  el("p", null, el("mark", null, "Marked"), " is what differs in normal form; ", el("span", { class: "faint" }, "faint"),
    " is what is only written in another way, by case, accents or signs; ", el("span", { class: "moved" }, "dotted"), " is a word that the other record has at another place; ",
    el("span", { class: "gap", role: "img", "aria-label": "a small box" }), " is where characters are missing. A line sets apart what ",
    hasModel ? "the model does not compare." : "the signatures are not made of."));
  document.addEventListener("keydown", onKey);
  narrow.addEventListener("change", showPair);
  return [
    filterTools(() => choosePairs()),
    el("div", { class: "bar-of-pair" }, view.place, view.progress),
    view.pair,
    el("div", { class: "answers" }, ...answers, el("span", { class: "moves" }, back, next, undo)),
    view.told,
    view.help,
  ];
}
