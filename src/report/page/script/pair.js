// The pair that is looked at, and what is decided about it.

const KEYS = { y: "same", n: "different", u: "unsure" };
const current = { queue: [], at: 0 };
const view = { listeners: [] };

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
  if (made) {
    known.push(el("strong", { class: `verdict ${made.verdict}` }, VERDICTS[made.verdict]));
    known.push(el("button", { type: "button", class: "plain", id: "forget", click: clicked(() => ifSeen(forget)), "aria-keyshortcuts": "c" }, "No decision", el("kbd", { "aria-hidden": "true" }, "c")));
  }
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
  view.buttons.forEach((button) => {
    button.disabled = !pair;
    const verdict = button.dataset.verdict;
    if (verdict) button.setAttribute("aria-pressed", String(Boolean(pair) && store.verdict(pair) === verdict));
  });
  view.undo.disabled = store.steps.length === 0;
  Object.assign(seen, { since: null, once: false });
  view.listeners.forEach((listener) => listener());
  if (!pair) {
    view.pair.replaceChildren(el("p", { class: "quiet" }, "Nothing is left here. Choose other pairs above, or take what is decided along."));
    return;
  }
  const line = el("p", { class: "about" }, el("span", { class: "n" }, short(pair.value)), el("span", { class: "quiet" }, report.measure), ...knownOf(pair));
  view.pair.replaceChildren(line, sideBySide(pair), ...[waterfall(pair)].filter(Boolean));
  look();
}

/** Goes by so many pairs. */
function step(by) {
  current.at = Math.max(0, Math.min(current.queue.length - 1, current.at + by));
  showPair();
  if (pairAt() && !isAtBeginning()) bringIntoView();
}

/** Goes on or back, and says where there is no other pair. */
function move(by) {
  const before = current.at;
  step(by);
  view.say(current.at !== before || !pairAt() ? "" : by > 0 ? theLast() : "This is the first one.");
}

/** Goes to a pair, by its number. If it is not one of those that are gone through, it is shown beside them; what to say of that. */
function goTo(number) {
  if (!current.queue.includes(number)) choosePairs(number);
  const beside = !current.queue.includes(number);
  if (beside) current.queue.splice(current.at, 0, number);
  step(current.queue.indexOf(number) - current.at);
  return beside ? " It is shown beside the pairs that you have chosen." : "";
}

/** Takes the pairs that are wanted now. The one of this number is looked at, if it is among them. */
function choosePairs(first) {
  view.say("");
  const left = onlyDoubtful();
  current.queue = chosenPairs(left);
  current.at = Math.max(0, current.queue.indexOf(first));
  view.which.textContent = left ? `${report.measure} ${DOUBTFUL}` : "";
  view.more.hidden = !hasSure || (!left && wanted.doubtful);
  view.more.textContent = left ? `Show all ${grouped(chosenPairs(false).length)}` : `Only those ${DOUBTFUL}`;
  showPair();
}

/** What counts of a pair now, in words. */
const outcome = (pair) => `${VERDICTS[store.verdict(pair)] || "Undecided"}: ${keyOf(records[pair.a])} and ${keyOf(records[pair.b])}.`;

function decide(verdict) {
  const pair = pairAt();
  const stood = store.decide([pair.number], verdict, pair.number) ? "" : "That stood already. ";
  const isLast = current.at + 1 === current.queue.length;
  step(1);
  view.say(stood + outcome(pair) + (isLast ? ` ${theLast()}` : ""));
}

/** What is said at the last pair, and what is next. */
function theLast() {
  const left = current.queue.filter((number) => isOpen(pairs[number])).length;
  return `That was the last of ${grouped(current.queue.length)}. ${left > 0 ? `${grouped(left)} skipped ${left === 1 ? "is" : "are"} left: go back.` : "Download them, or choose others above."}`;
}

/** Forgets what is decided here about the pair that is looked at. */
function forget() {
  const pair = pairAt();
  if (!store.decide([pair.number], null, pair.number)) {
    return view.say(pair.was === null ? "Nothing has been decided here about this pair." : "Judged before: press another answer to change it.");
  }
  showPair();
  view.say(outcome(pair));
}

/** Takes back the last step, whatever is looked at, and goes to its pair, or says how many pairs it was about. */
function takeBack() {
  const undone = store.undo();
  if (!undone) return view.say("Nothing is left to take back of what was decided since the page was opened.");
  const { verdict, before, from } = undone;
  if (before.length === 0) {
    showPair();
    view.say("Nothing is taken back: it has been decided otherwise in another tab since.");
  } else if (before.length === 1) {
    const where = goTo(before[0][0]);
    view.say(`Taken back. ${outcome(pairAt())}${where}`);
  } else {
    choosePairs(from);
    step(0);
    view.say(`Taken back: ${VERDICTS[verdict]} of ${plural(before.length, "pair")}, which are undecided again.`);
  }
}

/** Where the pointer came down last, and whether there was another button at that place the time before. */
const pointer = {};
document.addEventListener("pointerdown", ({ clientX: x, clientY: y, target }) => {
  const button = target.closest("button");
  Object.assign(pointer, { other: Math.hypot(x - pointer.x, y - pointer.y) < 12 && button !== pointer.button, x, y, button });
}, true);

/** What a click on a button does that decides, forgets or takes back. */
const clicked = (act) => ({ detail, currentTarget }) => {
  // Enter and Space have no pointer. A pointer leaves no button behind that they would press again, at another pair.
  if (detail > 0) currentTarget.blur();
  if (detail > 1) view.say("Nothing has been decided: the second click of a double one counts for nothing.");
  else if (detail > 0 && pointer.other) view.say("Nothing has been decided: another button has come under the pointer. Press again.");
  else act();
};

/** Keys act wherever nothing is typed or chosen, each as often as it is pressed: one that is held decides once. */
function onKey(event) {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || event.getModifierState("AltGraph") || event.isComposing) return;
  if (target.closest("select, textarea, input:not([type=range])")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const moves = { j: 1, k: -1 };
  if (target.type !== "range" && !target.closest(".scroll")) Object.assign(moves, { ArrowRight: 1, ArrowLeft: -1 });
  const isHeld = event.repeat && (KEYS[key] || "cx?".includes(key) || (key === "Enter" && target.closest("#review button")));
  if (isHeld) event.preventDefault();
  else if (KEYS[key]) ifSeen(() => decide(KEYS[key]));
  else if (key === "c") ifSeen(forget);
  else if (moves[key]) ifInView(() => move(moves[key]));
  else if (key === "x") takeBack();
  else if (key === "?") {
    view.help.open = !view.help.open;
    if (view.help.open) view.help.scrollIntoView({ block: "nearest", behavior: "instant" });
  } else return;
  event.preventDefault();
}

/** Answers, what is decided so far, and where it goes. They stay in view. */
function answerBar() {
  const button = (text, key, click, attributes) => el("button", { type: "button", click, "aria-keyshortcuts": key, ...attributes },
    text, el("kbd", { "aria-hidden": "true" }, key));
  const answers = Object.entries(KEYS).map(([key, verdict]) =>
    button(VERDICTS[verdict], key, clicked(() => ifSeen(() => decide(verdict))), { class: `answer ${verdict}`, "data-verdict": verdict, "aria-pressed": "false" }));
  const back = button("Previous", "k", () => ifInView(() => move(-1)), { class: "plain" });
  const next = button("Next", "j", () => ifInView(() => move(1)), { class: "plain" });
  view.undo = button("Take back", "x", clicked(takeBack), { class: "plain", id: "take-back" });
  view.buttons = [...answers, back, next];
  const said = told({ class: "said" });
  view.say = (text) => { said.textContent = said.title = text; };
  view.bar = el("div", { class: "bar-of-answers" },
    el("div", { class: "answers" }, ...answers), el("div", { class: "moves" }, back, next, view.undo),
    savedLine(), said, el("div", { class: "moves" }, ...exportTools()));
  // It has one place in the window, as long as what it is about is there.
  view.review = document.getElementById("review");
  return view.bar;
}

function helpTool() {
  view.help = el("details", { class: "help" }, el("summary", null, "Keys, marks, and what becomes of decisions"), el("ul", null,
    ...[["y", "the same person or thing"], ["n", "different"], ["u", "unsure"], ["x", "take back the last step, of one pair or of many"],
      ["c", "no decision about this pair: forget the one made here"], ["j", "next pair, also the right arrow"], ["k", "previous pair, also the left arrow"], ["?", "this list"]]
      .map(([key, words]) => el("li", null, el("kbd", null, key), ` ${words}`))),
  el("p", null, "A key decides only about a pair that has been in view; otherwise it brings the pair there."),
  el("p", null, el("mark", null, "Marked"), " is what differs in normal form; ", el("span", { class: "faint" }, "faint"),
    " is what is only written in another way, by case, accents or signs; ", el("span", { class: "moved" }, "dotted"), " is a word that the other record has at another place; ",
    el("span", { class: "gap", role: "img", "aria-label": "a small box" }), " is where characters are missing. A line sets apart what ",
    hasModel ? "the model does not compare." : "the signatures are not made of."),
  el("p", null, `What is decided here becomes rows of a table of decisions${report.decisions ? `, such as ${report.decisions}` : ""}: Download gives a CSV file for COPY, Copy an INSERT statement to paste.`));
  return view.help;
}

function pairTool() {
  view.place = el("h3", { id: "pair-place" });
  view.which = el("span", { class: "quiet" });
  view.more = el("button", { type: "button", class: "plain", id: "all-pairs", click: () => {
    wanted.doubtful = !wanted.doubtful;
    choosePairs();
  } });
  view.pair = el("div", { id: "pair", role: "group", "aria-labelledby": "pair-place" });
  document.addEventListener("keydown", onKey);
  return [
    filterTools(() => choosePairs()),
    el("div", { class: "bar-of-pair" }, view.place, view.which, view.more),
    view.pair,
    answerBar(),
    helpTool(),
  ];
}
