// Groups of records that pairs connect, as graphs, with their groups. What links two halves alone is drawn in another colour, and told in words.

const SIZE = { width: 640, height: 400, edge: 36 };

/** The pair of two records, if it is on this page. */
const pairOf = (a, b) => pairs.find((pair) => (pair.a === a && pair.b === b) || (pair.a === b && pair.b === a));

/** Whether a pair alone links two groups of two or more, or an entity. */
const linksHalves = (edge) => edge[3] > (ofEntities ? 0 : 1);

/** Places of the records: like springs, from a circle on, so that they are always the same. */
function placesOf(group) {
  const n = group.members.length;
  const at = group.members.map((_, i) => [Math.cos((2 * Math.PI * i) / n), Math.sin((2 * Math.PI * i) / n)]);
  const ideal = 1.4 / Math.sqrt(n);
  for (let round = 0; round < 300; round += 1) {
    const heat = 0.12 * (1 - round / 300);
    const move = at.map(() => [0, 0]);
    const push = (i, j, force) => {
      const [dx, dy] = [at[i][0] - at[j][0], at[i][1] - at[j][1]];
      const distance = Math.max(0.01, Math.hypot(dx, dy));
      const by = force(distance) / distance;
      move[i][0] += dx * by;
      move[i][1] += dy * by;
      move[j][0] -= dx * by;
      move[j][1] -= dy * by;
    };
    for (let i = 0; i < n; i += 1) for (let j = 0; j < i; j += 1) push(i, j, (d) => (ideal * ideal) / d);
    for (const [i, j] of group.edges) push(i, j, (d) => (-d * d) / ideal);
    at.forEach((point, i) => {
      const length = Math.max(1e-9, Math.hypot(...move[i]));
      point[0] += (move[i][0] / length) * Math.min(length, heat);
      point[1] += (move[i][1] / length) * Math.min(length, heat);
    });
  }
  const range = (k) => [Math.min(...at.map((p) => p[k])), Math.max(...at.map((p) => p[k]))];
  const [[left, right], [top, bottom]] = [range(0), range(1)];
  const scale = (x, low, high, size) => SIZE.edge + ((size - 2 * SIZE.edge) * (x - low)) / Math.max(high - low, 1e-9);
  return at.map(([x, y]) => [scale(x, left, right, SIZE.width), scale(y, top, bottom, SIZE.height)]);
}

/** The clusters of a group, each once. */
const kindsOf = (group) => [...new Set(group.clusters)].filter((cluster) => cluster > 0);

function drawing(group) {
  const at = placesOf(group);
  const kinds = kindsOf(group);
  const edges = group.edges.map((edge) => {
    const [i, j, value] = edge;
    return draw("line", { class: linksHalves(edge) ? "link bridge" : "link", x1: at[i][0], y1: at[i][1], x2: at[j][0], y2: at[j][1], "stroke-width": 1 + 3 * value ** 4 },
      draw("title", null, `${short(value)}${linksHalves(edge) ? ", the only link between two halves" : ""}`));
  });
  const nodes = group.members.map((member, i) => {
    const key = keyOf(records[member]);
    // Names at the sides go inwards.
    const anchor = at[i][0] < SIZE.width / 4 ? "start" : at[i][0] > (3 * SIZE.width) / 4 ? "end" : "middle";
    return draw("g", { class: `node kind-${group.clusters[i] > 0 ? kinds.indexOf(group.clusters[i]) % 6 : "none"}${group.keep[i] ? " keep" : ""}` }, draw("circle", { cx: at[i][0], cy: at[i][1], r: group.keep[i] ? 8 : 6 }),
      draw("text", { class: anchor, x: at[i][0], y: at[i][1] - 12 }, key.length > 14 ? `${key.slice(0, 13)}\u2026` : key));
  });
  return draw("svg", { class: "graph", viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, role: "img",
    "aria-label": `${GROUP} ${group.number}: ${plural(group.members.length, "record")} and ${plural(group.edges.length, "pair")} between them` }, ...edges, ...nodes);
}

/** Who links the halves, in words. */
function bridgesOf(group, look) {
  const found = group.edges.filter(linksHalves).map(([i, j, value, alone]) => {
    const [a, b] = [group.members[i], group.members[j]];
    const pair = pairOf(a, b);
    return el("li", null, el("strong", null, keyOf(records[a])), " and ", el("strong", null, keyOf(records[b])),
      ` (${short(value)}) alone link ${plural(alone, "record")} with the other ${grouped(group.size - alone)}. `,
      pair ? el("button", { type: "button", class: "plain", click: () => look(pair) }, "Look at this pair") : null);
  });
  return found.length > 0 ? el("ul", { class: "bridges" }, ...found) : el("p", { class: "quiet" },
    group.looked_through ? "No single pair holds two halves of it together." : "It has too many pairs to be looked through for those that alone hold halves together.");
}

function membersOf(group) {
  const shown = columns.map((column, i) => ({ ...column, i }))
    .filter(({ i }) => group.members.some((member) => (records[member].values || [])[i])).slice(0, 6);
  const cell = (record, i) => {
    const value = record.values ? record.values[i] : null;
    return el("td", { "data-label": columns[i].name }, value === null ? el("span", { class: "null" }, "null") : value);
  };
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Records of ${GROUP.toLowerCase()} ${group.number}` }, el("table", { class: "records" },
    el("caption", null, "The least similar ones first"),
    el("thead", null, el("tr", null, el("th", { scope: "col" }, "record"), el("th", { scope: "col", class: "num" }, CLUSTER), el("th", { scope: "col", class: "num" }, `best ${report.measure}`), ...shown.map(({ name }) => el("th", { scope: "col" }, name)))),
    el("tbody", null, ...group.members.map((member, k) => el("tr", { class: group.keep[k] ? "keep" : null },
      el("th", { scope: "row" }, keyOf(records[member])), el("td", { class: "num", "data-label": CLUSTER }, group.clusters[k] || "\u2013"), el("td", { class: "num", "data-label": `best ${report.measure}` }, short(group.best[k])), ...shown.map(({ i }) => cell(records[member], i)))))));
}

function graphTool(look) {
  if (groups.length === 0) return [];
  const body = el("div", { id: "group" });
  const loosest = (group) => Math.min(...group.best);
  const parted = (group) => group.edges.some(linksHalves);
  const order = ofEntities ? groups : [...groups].sort((x, y) => parted(y) - parted(x) || loosest(x) - loosest(y) || x.number - y.number);
  const show = (number) => {
    const group = groups.find((one) => one.number === +number);
    const left = group.size - group.members.length;
    body.replaceChildren(drawing(group), bridgesOf(group, look),
      el("p", null, el("button", { type: "button", class: "plain", click: () => look(null, group.number) }, `Go through the pairs of ${GROUP.toLowerCase()} ${group.number}`)),
      left > 0 ? el("p", { class: "quiet" }, `${plural(left, "more record")} of it ${left === 1 ? "is" : "are"} not drawn.`) : "", membersOf(group));
  };
  const options = order.map((group) => [String(group.number), `${group.number}: ${plural(group.size, "record")}${ofEntities ? "" : ` in ${plural(kindsOf(group).length, "cluster")}${parted(group) ? ", in two halves" : `, least ${short(loosest(group))}`}`}`]);
  show(order[0].number);
  return [el("h3", { id: "graphs" }, `${GROUPS}, as graphs`), el("p", null, ofEntities
    ? "The records of an entity, and the pairs that hold it together. The thicker a line, the more probable the pair; without a broken red one the entity would fall into two."
    : "Records that pairs connect, and how. The groups that hold together least come first. Records of one cluster have one colour, and the one to keep is filled. The thicker a line, the more similar the pair; a broken red one is the only link between two halves."),
    choice(GROUP, options, options[0][0], show), body];
}
