// The threshold slider. It counts all pairs, by the numbers that the report has for every threshold.

const threshold = { at: 0 };

/** The greatest place whose threshold is not above this one. */
const placeOf = (value) => Math.max(0, counts.at.findLastIndex((at) => at <= value));

/** What is right at a place, by decisions of before and those made here. */
function decidedAt(place) {
  const base = counts.decided;
  let known = base ? base.known[place] : 0;
  let same = base ? base.same[place] : 0;
  let total = base ? base.total : 0;
  for (const [i, { verdict }] of store.made) {
    const pair = pairs[i];
    const reached = pair.value >= counts.at[place] ? 1 : 0;
    if (pair.was === "same" || pair.was === "different") {
      known -= reached;
      if (pair.was === "same") [same, total] = [same - reached, total - 1];
    }
    if (verdict !== "unsure") known += reached;
    if (verdict === "same") [same, total] = [same + reached, total + 1];
  }
  return { known, same, total };
}

const share = (part, whole) => (whole > 0 ? (part / whole).toFixed(3) : "\u2013");

/** Precision and recall as two figures. */
function rates(by, name, { known, same, total }) {
  return [
    [`Precision${by}`, share(same, known), `${grouped(same)} of ${plural(known, "pair")} are the same, ${name}`],
    [`Recall${by}`, share(same, total), `${grouped(same)} of ${grouped(total)} that are the same`],
  ];
}

function figuresAt(place) {
  const figures = [
    ["Pairs", grouped(counts.pairs[place]), `of ${grouped(report.total)}`],
    ["Records", grouped(counts.records[place]), "in a pair"],
  ];
  const truth = counts.truth;
  if (truth) {
    figures.push(...rates("", `by ${truth.name}`, { known: truth.known[place], same: truth.same[place], total: truth.total }));
  }
  const decided = decidedAt(place);
  if (counts.decided || decided.total + decided.known > 0) figures.push(...rates(truth ? " as decided" : "", "as people have decided", decided));
  return figures;
}

/** Moves the line of the chart, and colours its bars. */
function moveCut(value) {
  const chart = document.querySelector("#histogram-chart");
  const line = chart.querySelector("line.cut");
  const label = chart.querySelector("text.cut");
  const bars = [...chart.querySelectorAll("rect")];
  const { left, right, floor } = chart.dataset;
  const x = +left + ((+right - +left) * (value - floor) * 100) / bars.length;
  if (line) {
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    label.setAttribute("x", x);
    label.setAttribute("class", x < +left + 60 ? "cut first" : x > +right - 60 ? "cut last" : "cut");
    label.textContent = `threshold ${exact(value)}`;
  }
  bars.forEach((bar, i) => bar.setAttribute("class", i === bars.length - 1 || +floor + (i + 1) / 100 > value + 1e-9 ? "above" : "below"));
}

function sliderHint() {
  const least = exact(report.least);
  if (!report.searched) return `What is not among the given pairs is not counted; the least of them is at ${least}.`;
  return `What lies below ${least} was not searched. Ask for it with the argument search_from.`;
}

function thresholdTool() {
  const figures = el("dl", { class: "figures" });
  const status = told({ class: "hidden" });
  const output = el("output", { for: "slider", class: "n" });
  const slider = el("input", {
    type: "range", id: "slider", min: 0, max: counts.at.length - 1, step: 1, "aria-describedby": "slider-hint",
  });
  const show = () => {
    const place = threshold.at;
    const value = counts.at[place];
    slider.value = place;
    output.textContent = exact(value);
    slider.setAttribute("aria-valuetext", `${report.measure} ${exact(value)}`);
    const found = figuresAt(place);
    figures.replaceChildren(...found.map(([name, n, words]) =>
      el("div", null, el("dt", null, name), el("dd", null, el("span", { class: "n" }, n), el("br"), el("span", { class: "quiet" }, words)))));
    status.textContent = `${exact(value)}: ${found.map(([name, n]) => `${name} ${n}`).join(", ")}`;
    moveCut(value);
  };
  slider.addEventListener("input", () => {
    threshold.at = +slider.value;
    show();
  });
  store.listeners.push(show);
  threshold.at = placeOf(report.threshold);
  show();
  const reset = el("button", { type: "button", class: "plain", click: () => {
    threshold.at = placeOf(report.threshold);
    show();
  } }, `Back to ${exact(report.threshold)}`);
  return [
    el("div", { class: "slide" }, el("label", { for: "slider" }, "Threshold"), slider, output, reset),
    el("p", { class: "quiet", id: "slider-hint" }, sliderHint()),
    figures,
    status,
  ];
}
