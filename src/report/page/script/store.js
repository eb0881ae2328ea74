// Decisions made on this page. The browser keeps them, if it can, under a hash of the report.

const STORED = `bloom_ident ${source.dataset.hash}`;

const store = {
  /** By the number of a pair: what was decided, and when. */
  made: new Map(),
  /** The steps since the page was opened, of one pair or of many: what was decided, what there was before by the numbers of the pairs, and the number of the pair that was looked at. */
  steps: [],
  /** Whether the browser keeps them. */
  kept: true,
  /** Whether all of them have been exported. */
  exported: true,
  listeners: [],

  load() {
    try {
      const stored = JSON.parse(localStorage.getItem(STORED) || "[]");
      for (const [i, verdict, at] of stored) {
        if (pairs[i] && VERDICTS[verdict]) this.made.set(i, { verdict, at });
      }
      localStorage.setItem(STORED, JSON.stringify(stored));
    } catch (error) {
      this.kept = false;
    }
  },

  /** Decides about pairs, in one step; without a verdict, what was decided here is forgotten. */
  decide(numbers, verdict, from) {
    this.steps.push({ verdict, before: numbers.map((i) => [i, this.made.get(i)]), from });
    const at = new Date().toISOString();
    this.put(numbers.map((i) => [i, verdict && { verdict, at }]));
  },

  /** Takes back the last step, and gives it. */
  undo() {
    const step = this.steps.pop();
    if (step) this.put(step.before);
    return step;
  },

  /** Takes decisions, and forgets those that are none. */
  put(decisions) {
    for (const [i, made] of decisions) {
      if (made) this.made.set(i, made);
      else this.made.delete(i);
    }
    this.exported = false;
    try {
      const all = [...this.made].map(([number, { verdict, at }]) => [number, verdict, at]);
      localStorage.setItem(STORED, JSON.stringify(all));
      this.kept = true;
    } catch (error) {
      this.kept = false;
    }
    this.listeners.forEach((listener) => listener());
  },

  /** What counts of a pair: what was decided here, or else before. */
  verdict(pair) {
    const made = this.made.get(pair.number);
    return made ? made.verdict : holds(pair) ? pair.was : null;
  },
};

/** How many of all pairs of the page are decided, and whether that is kept. */
function savedLine() {
  const line = told({ class: "saved" });
  const show = () => {
    const here = store.made.size;
    const decided = pairs.filter((pair) => store.verdict(pair) !== null).length;
    line.className = store.kept ? "saved" : "saved not";
    const kept = here === 0 ? "" : store.kept ? `, ${decided === here ? "" : `${grouped(here)} of them here, `}saved in this browser`
      : ". Not saved: this browser keeps nothing for this page. Download or copy before you leave";
    line.replaceChildren(el("strong", null, `${grouped(decided)} of ${grouped(pairs.length)} decided`), `${kept}.`);
  };
  store.listeners.push(show);
  show();
  return line;
}

window.addEventListener("beforeunload", (event) => {
  if (store.made.size > 0 && !store.kept && !store.exported) {
    event.preventDefault();
    event.returnValue = "";
  }
});
