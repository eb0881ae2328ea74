// Decisions made on this page. The browser keeps them, if it can, under a hash of the report.

const STORED = `bloom_ident ${source.dataset.hash}`;

const store = {
  /** By the number of a pair: what was decided, and when. */
  made: new Map(),
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

  /** Takes a decision, or takes it back if there is none. */
  decide(i, verdict) {
    if (verdict === null) this.made.delete(i);
    else this.made.set(i, { verdict, at: new Date().toISOString() });
    this.exported = false;
    try {
      const all = [...this.made].map(([number, { verdict: made, at }]) => [number, made, at]);
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

/** How many are decided, and whether that is kept. */
function savedLine() {
  const line = told({ class: "saved" });
  const show = () => {
    const n = store.made.size;
    line.className = store.kept ? "saved" : "saved not";
    if (!store.kept) {
      line.textContent = `Not saved: this browser keeps nothing for this page. Export your ${plural(n, "decision")} before you leave.`;
    } else {
      line.textContent = n === 0 ? "Nothing decided here yet." : `${plural(n, "decision")} made here, saved in this browser.`;
    }
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
