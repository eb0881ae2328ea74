// Deciding many pairs at once.

/** In which way a pair agrees: the level of each field by a model, or else which fields differ or are missing, and by quarters how similar they are. None if a record is not to be seen. */
function patternOf(pair) {
  if (pair.pattern === undefined) {
    const fields = hasModel ? pair.why && pair.why.fields.map(([, words]) => words)
      : pair.alike.length > 0 && columns.map(({ used }, i) => used && ["differs", "lacks", "agrees"].find((what) => fits(pair, `${what}:${i}`)) + Math.floor(pair.alike[i] * 4));
    pair.pattern = fields ? fields.join() : null;
  }
  return pair.pattern;
}

/** The numbers of the undecided pairs that agree as the one that is looked at; none if nobody can see how. */
function alikePairs() {
  const pattern = pairAt() ? patternOf(pairAt()) : null;
  if (pattern === null) return [];
  return pairs.filter((other) => isOpen(other) && patternOf(other) === pattern).map((other) => other.number);
}

/** Those that are similar by so much, or more. */
const pairsFrom = (value) => (value > 0 ? pairs.filter((pair) => isOpen(pair) && pair.value >= value).map((pair) => pair.number) : []);

/** A button that decides some pairs; how many these are, it says. */
function answerOfMany(id, verdict, find) {
  const button = el("button", { type: "button", class: verdict, id, click: clicked(() => ifSeenOnce(() => {
    const numbers = find();
    store.decide(numbers, verdict, pairAt()?.number);
    choosePairs();
    view.say(`${VERDICTS[verdict]}: ${plural(numbers.length, "pair")}. Take back, or x, undoes that.`);
  })) }, VERDICTS[verdict]);
  const show = () => {
    const n = find().length;
    button.disabled = n === 0;
    button.textContent = `${VERDICTS[verdict]}: ${plural(n, "pair")}`;
  };
  return { button, show };
}

function manyTool() {
  const from = el("input", { type: "number", id: "many-from", min: 0, max: 1, step: "any", value: 0.99 });
  const alike = ["same", "different"].map((verdict) => answerOfMany(`alike-${verdict}`, verdict, alikePairs));
  const above = answerOfMany("above-same", "same", () => pairsFrom(Number(from.value)));
  const tool = el("details", { class: "many" }, el("summary", null, "Decide many at once"),
    el("p", { class: "quiet" }, "Of the undecided pairs on this page:"),
    el("div", { class: "answers" }, el("span", null, "all that agree, field by field, as the pair above"), ...alike.map(({ button }) => button)),
    el("div", { class: "answers" }, el("label", { for: "many-from" }, `all of ${report.measure}`), from, el("span", null, "or more"), above.button));
  const show = () => tool.open && [...alike, above].forEach((answer) => answer.show());
  from.addEventListener("input", show);
  tool.addEventListener("toggle", show);
  view.listeners.push(show);
  return tool;
}
