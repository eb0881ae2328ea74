// Which pairs are gone through, and in which order.

const wanted = { show: "open", band: "all", field: "all", cluster: "all", order: ofEntities ? "first" : "near", doubtful: true };

/** From here on hardly any pair is worth a look. */
const SURE = 0.95;

/** Whether a pair is worth a look: it is doubtful, or a record has changed since somebody judged it. */
const isDoubtful = (pair) => pair.value < SURE || pair.stale;

/** Which pairs these are, in words. */
const DOUBTFUL = `below ${SURE}${pairs.some((pair) => pair.stale && pair.value >= SURE) ? ", or changed since they were decided" : ""}`;

/** Whether sure pairs can be left out: there are others, and not all have been chosen to be looked at. */
const hasSure = !ofEntities && !report.asked && pairs.some(isDoubtful) && !pairs.every(isDoubtful);

/** Whether no others than doubtful pairs are shown, since nobody has asked for others. */
const onlyDoubtful = () => hasSure && wanted.doubtful && wanted.show === "open" && wanted.band === "all" && wanted.cluster === "all";

/** How the pairs of a group that is drawn are asked for. */
const nameOfGroup = (number) => (ofEntities ? String(number) : `g${number}`);

/** Bands of 0.05, from the least to 1. */
const bandOf = (value) => Math.min(19, Math.floor(value * 20 + 1e-9));

/** How many of all pairs are in a band. */
function inBand(band) {
  const at = (limit) => {
    const place = counts.at.findIndex((t) => t >= limit - 1e-9);
    return place < 0 ? 0 : counts.pairs[place];
  };
  return at(band / 20) - (band === 19 ? 0 : at((band + 1) / 20));
}

const isOpen = (pair) => store.verdict(pair) === null;

/** Whether the values of a field differ: "differs:2", or agree in normal form: "agrees:2". */
function fits(pair, field) {
  const [what, number] = field.split(":");
  const marks = pair.marks.find(([column]) => column === +number);
  const [a, b] = [records[pair.a].values, records[pair.b].values];
  if (!a || !b) return false;
  const [x, y] = [a[number], b[number]];
  if (x === null || y === null) return what === "lacks";
  const differs = marks !== undefined && /[dg]/.test(marks[1] + marks[2]);
  return what === "differs" ? differs : what === "agrees" && !differs;
}

/** The numbers of the pairs that are wanted, in their order; sure ones too, or not. */
function chosenPairs(doubtful) {
  const { show, band, field, cluster, order } = wanted;
  const chosen = pairs.filter((pair) =>
    (!doubtful || isDoubtful(pair))
    && (show === "all" || (show === "open" ? isOpen(pair) : show === "stale" ? pair.stale : !isOpen(pair)))
    && (band === "all" || bandOf(pair.value) === +band)
    && (field === "all" || fits(pair, field))
    && (cluster === "all" || (cluster[0] === "g" ? pair.group === +cluster.slice(1) : pair.cluster === +cluster)));
  const cut = counts.at[threshold.at];
  const near = (pair) => Math.abs(pair.value - cut);
  const orders = {
    near: (x, y) => near(x) - near(y) || x.number - y.number,
    first: (x, y) => x.number - y.number,
    least: (x, y) => x.value - y.value || x.number - y.number,
    most: (x, y) => y.value - x.value || y.number - x.number,
  };
  return chosen.sort(orders[order]).map((pair) => pair.number);
}

/** Wants all pairs of a cluster or a group. */
function wantAll(cluster) {
  Object.assign(wanted, { show: "all", band: "all", field: "all", cluster });
  document.querySelectorAll(".filters select").forEach((select, i) => {
    const value = [wanted.show, wanted.band, wanted.field, wanted.cluster][i];
    if ([...select.options].some((option) => option.value === value)) select.value = value;
  });
  choosePairs();
}

function filterTools(changed) {
  const change = (name) => (value) => {
    wanted[name] = value;
    changed();
  };
  const bands = [...new Set(pairs.map((pair) => bandOf(pair.value)))].sort((x, y) => x - y);
  const bandOptions = bands.map((band) => {
    const shown = pairs.filter((pair) => bandOf(pair.value) === band).length;
    const all = inBand(band);
    const of = all > shown ? `${grouped(shown)} of ${plural(all, "pair")}` : plural(shown, "pair");
    return [String(band), `${(band / 20).toFixed(2)} to ${band === 19 ? "1" : ((band + 1) / 20).toFixed(2)} (${of})`];
  });
  const fieldOptions = columns.flatMap(({ name }, i) => [
    [`differs:${i}`, `${name} differs`], [`agrees:${i}`, `${name} agrees`], [`lacks:${i}`, `${name} is missing`],
  ]);
  const numbers = [...new Set(pairs.map((pair) => pair.cluster))].filter((n) => n > 0).sort((x, y) => x - y);
  const show = [["open", "undecided"], ["decided", "decided"], ["all", "all"]];
  if (pairs.some((pair) => pair.stale)) show.splice(1, 0, ["stale", "changed since they were decided"]);
  const drawn = groups.filter(({ number }) => pairs.some((pair) => pair.group === number));
  const clusterOptions = [["all", "any"], ...numbers.map((n) => [String(n), `${CLUSTER} ${n}`]),
    ...(ofEntities ? [] : drawn.map(({ number }) => [nameOfGroup(number), `group ${number}`]))];
  const orders = [["least", "least similar first"], ["most", "most similar first"]];
  orders.unshift(ofEntities ? ["first", "most worth a look first"] : ["near", "nearest to the threshold"]);
  const filters = el("div", { class: "filters", role: "group", "aria-label": "Which pairs" },
    choice("Pairs", show, wanted.show, change("show")),
    choice(Measure, [["all", "any"], ...bandOptions], "all", change("band")),
    choice("Field", [["all", "any"], ...fieldOptions], "all", change("field")),
    numbers.length > 0 ? choice(ofEntities ? "Entity" : "Cluster", clusterOptions, "all", change("cluster")) : null,
    choice("Order", orders, wanted.order, change("order")));
  // Where there is little room, they open when asked for.
  const narrow = window.matchMedia("(max-width: 40rem)");
  const tool = el("details", { class: "which" }, el("summary", null, "Which pairs"), filters);
  const fold = () => { tool.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  return tool;
}
