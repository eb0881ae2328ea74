// Decisions made on this page. The browser keeps them, if it can, under a hash of the report.

const STORED = `bloom_ident ${source.dataset.hash}`;

const store = {
  /** By the number of a pair: what was decided, and when. */
  made: new Map(),
  /** What the browser does not keep yet: decisions by the number of a pair, and null for those that are forgotten. */
  unkept: new Map(),
  /** The steps since the page was opened, of one pair or of many: what was decided, what there was before by the numbers of the pairs, and the number of the pair that was looked at. */
  steps: [],
  /** Whether the browser keeps them. */
  kept: true,
  /** Whether all of them have been exported. */
  exported: true,
  listeners: [],

  /** Takes what the browser keeps, which the page may have written in another tab, too, and beside it what it does not keep yet. */
  read() {
    const stored = JSON.parse(localStorage.getItem(STORED) || "[]").filter(([i, verdict]) => pairs[i] && VERDICTS[verdict]);
    this.made = new Map(stored.map(([i, verdict, at]) => [i, { verdict, at }]));
    this.addUnkept();
  },

  addUnkept() {
    for (const [i, made] of this.unkept) {
      if (made) this.made.set(i, made);
      else this.made.delete(i);
    }
  },

  /** Has the browser keep what was decided, in this tab and in others. */
  save() {
    try {
      this.read();
      localStorage.setItem(STORED, JSON.stringify([...this.made].map(([i, { verdict, at }]) => [i, verdict, at])));
      this.unkept.clear();
      this.kept = true;
    } catch (error) {
      this.addUnkept();
      this.kept = false;
    }
    this.told();
  },

  told() {
    this.listeners.forEach((listener) => listener());
  },

  /** Decides about pairs, in one step; without a verdict, what was decided here is forgotten. Where all of that stands already, it is no step; whether it is one. */
  decide(numbers, verdict, from) {
    const other = numbers.filter((i) => (verdict ? this.verdict(pairs[i]) !== verdict : this.made.has(i)));
    if (other.length === 0) return false;
    const at = new Date().toISOString();
    this.steps.push({ verdict, at, before: other.map((i) => [i, this.made.get(i)]), from });
    this.put(other.map((i) => [i, verdict && { verdict, at }]));
    return true;
  },

  /** Takes back the last step, but for what has been decided otherwise in another tab since, and gives it. */
  undo() {
    const step = this.steps.pop();
    if (!step) return step;
    step.before = step.before.filter(([i]) => this.made.get(i)?.at === (step.verdict ? step.at : undefined));
    this.put(step.before);
    return step;
  },

  /** Takes decisions, and forgets those that are none. */
  put(decisions) {
    for (const [i, made] of decisions) this.unkept.set(i, made);
    this.exported = false;
    this.save();
  },

  /** What counts of a pair: what was decided here, or else before. */
  verdict(pair) {
    const made = this.made.get(pair.number);
    return made ? made.verdict : holds(pair) ? pair.was : null;
  },
};

/** How many of the pairs that are gone through are decided, and of all of the page, and whether that is kept. */
function savedLine() {
  const line = told({ class: "saved" });
  const show = () => {
    const here = store.made.size;
    const some = current.queue.map((number) => pairs[number]);
    const ofAll = (all) => `${grouped(all.filter((pair) => !isOpen(pair)).length)} of ${grouped(all.length)}`;
    line.className = store.kept ? "saved" : "saved not";
    const kept = here === 0 ? "" : store.kept ? `, ${grouped(here)} here, saved in this browser`
      : ". Not saved: download or copy before you leave";
    line.replaceChildren(el("strong", null, `${ofAll(some)} decided`), some.length < pairs.length ? `, ${ofAll(pairs)} on the page` : "", `${kept}.`);
  };
  view.listeners.push(show);
  return line;
}

window.addEventListener("beforeunload", (event) => {
  if (store.made.size > 0 && !store.kept && !store.exported) {
    event.preventDefault();
    event.returnValue = "";
  }
});
