// Puts the tools onto the page.

function start() {
  pairs.forEach((pair, number) => { pair.number = number; });
  store.save();
  const slide = document.getElementById("threshold");
  const slider = thresholdTool();
  // Who looks at entities chooses no threshold.
  if (!ofEntities) slide.append(...slider);
  slide.hidden = ofEntities;
  if (pairs.length === 0) return;
  const sampled = pairs.length < report.total;
  const lookAt = (pair, group) => {
    if (group) wantAll(nameOfGroup(group));
    view.say(pair ? goTo(pair.number) : "");
    bringIntoView();
  };
  document.getElementById("review-body").append(
    el("p", null, ofEntities
      ? `Here are ${sampled ? "" : "all "}${plural(pairs.length, "pair")} that alone hold${pairs.length === 1 ? "s" : ""} an entity together${report.holding > pairs.length ? `, of ${grouped(report.holding)}` : ""}: those first that are expected to make the most wrong pairs of records.`
      : sampled
      ? `Here are ${plural(pairs.length, "pair")} of ${grouped(report.total)}, as many of each band of ${report.measure} as there can be.`
      : pairs.length === 1 ? "Here is the only pair." : `Here are all ${plural(pairs.length, "pair")}.`),
    ...pairTool(), manyTool(), ...graphTool(lookAt));
  document.getElementById("review").hidden = false;
  choosePairs();
  // What is decided in another tab is seen in this one, too.
  window.addEventListener("storage", ({ key }) => {
    if (key !== STORED && key !== null) return;
    store.read();
    store.told();
    showPair();
  });
}

start();
