// The ranked demonstrations: real rows, so that finding, printing and reading aloud work, painted when in sight.

const COLUMNS = [
  { key: "name", label: "Demonstration", width: "minmax(0, 1.6fr)", first: false },
  { key: null, label: "Score over time", width: "minmax(0, 2.1fr)" },
  { key: "score", label: "Score", width: "3.6rem", first: false },
  { key: "probability", label: "P(expert)", width: "3.9rem", first: false },
  { key: "return", label: "Return", width: "3.9rem", first: true },
  { key: "length", label: "Pairs", width: "3.6rem", first: true },
  { key: "truth", label: "Label", width: "4.9rem", first: false },
  { key: "verdict", label: "Verdict", width: "4rem", first: false },
];
const hasReturns = demos.some((demo) => demo.episode_return !== null);
const hasTruth = demos.some((demo) => demo.truth !== null);
const columns = COLUMNS.filter(({ key }) => (key !== "return" || hasReturns) && (key !== "truth" || hasTruth));
const sorts = [...columns.filter(({ key }) => key && key !== "truth")];
if (makers.size) sorts.push({ key: "demonstrator", label: "Demonstrator", first: false });

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const VALUES = {
  score: (demo) => demo.score,
  probability: (demo) => demo.expert_probability,
  return: (demo) => demo.episode_return ?? Infinity,
  length: (demo) => demo.pairs,
  name: (demo) => demo.name,
  demonstrator: (demo) => makerName(demo),
  truth: (demo) => demo.truth ?? "",
  verdict: (demo) => ["drop", "unsure", "keep"].indexOf(verdictOf(demo)),
};
const longest = demos.reduce((most, demo) => Math.max(most, demo.pairs), 0);
const rows = new Map(); // demonstration -> { node, canvas, decision, painted }
const inSight = new Set();
let listed = []; // demonstrations in the order shown
let stop = null; // the demonstration whose row Tab reaches
let painting = 0; // counts changes of the cut or the theme: a strip painted at an earlier one is stale

function makeRow(demo) {
  const maker = makerName(demo);
  const canvas = element("canvas", { "aria-hidden": "true" });
  const windows = `Windows from ${scoreText(Math.min(...demo.windows))} to ${scoreText(Math.max(...demo.windows))}`;
  const number = (label, text, soft = "soft") =>
    element("div", { role: "gridcell", class: `number ${soft}`, "data-label": label }, text);
  const cells = {
    name: () => element("div", { role: "rowheader", class: "who" },
      element("b", { title: demo.name }, demo.name),
      maker && !demo.name.includes(maker) ? element("small", {}, maker) : null),
    null: () => element("div", { role: "gridcell", class: "strip" }, canvas, element("span", { class: "unseen" }, windows)),
    score: () => number("score", scoreText(demo.score), ""),
    probability: () => number("P(expert)", probabilityText(demo.expert_probability)),
    return: () => number("return", demo.episode_return === null ? "–" : returnText(demo.episode_return)),
    length: () => number("pairs", countText(demo.pairs)),
    truth: () => number("label", demo.truth ?? "–"),
    verdict: () => element("div", { role: "gridcell", class: "decision" }, pill(verdictOf(demo))),
  };
  const node = element("div", { role: "row", class: "row", tabindex: "-1", "data-index": demo.index },
    ...columns.map(({ key }) => cells[key]()));
  return { node, canvas, decision: node.querySelector(".pill"), painted: -1 };
}

function drawColumns() {
  byId("columns").replaceChildren(...columns.map(({ key, label, first }) => {
    const sorted = key === state.sort ? (state.descending ? "descending" : "ascending") : null;
    const kind = ["name", "verdict", null].includes(key) ? "" : "number";
    const head = element("div", { role: "columnheader", class: kind, "aria-sort": sorted });
    if (!key) {
      head.append(label);
      return head;
    }
    const button = element("button", { type: "button", "data-sort": key }, label);
    button.addEventListener("click", () => sortBy(key, key === state.sort ? !state.descending : first));
    head.append(button);
    return head;
  }));
  byId("sort").value = state.sort;
  const direction = byId("direction");
  direction.textContent = state.descending ? "↓" : "↑";
  direction.setAttribute("aria-label", state.descending ? "Descending; sort ascending" : "Ascending; sort descending");
}

function paintLegend() {
  const low = state.cut === null ? binLow : state.cut - Math.max(binHigh - state.cut, state.cut - binLow);
  const high = state.cut === null ? binHigh : 2 * state.cut - low;
  paintStrip(byId("legend"), Array.from({ length: 72 }, (_, i) => low + ((high - low) * (i + 0.5)) / 72));
}

function sortBy(key, descending) {
  state.sort = key;
  state.descending = descending;
  const button = document.activeElement?.dataset.sort;
  drawColumns();
  // The header was drawn anew: keep the keyboard where it was.
  if (button) document.querySelector(`#columns [data-sort="${button}"]`)?.focus();
  showList();
}

function compare(a, b) {
  const [left, right] = [VALUES[state.sort](a), VALUES[state.sort](b)];
  const order = typeof left === "string" ? collator.compare(left, right) : left === right ? 0 : left < right ? -1 : 1;
  return (state.descending ? -order : order) || a.score - b.score || a.index - b.index;
}

function matches(demo) {
  if (state.maker !== null && demo.demonstrator !== state.maker) return false;
  if (state.show === "unsure" && verdictOf(demo) !== "unsure") return false;
  if (state.show === "keep" && !kept(demo)) return false;
  if (state.show === "drop" && kept(demo)) return false;
  const text = `${demo.name} ${makerName(demo)}`.toLowerCase();
  return state.query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function showList() {
  listed = demos.filter(matches).sort(compare);
  byId("rows").replaceChildren(...listed.map((demo) => rows.get(demo).node));
  listed.forEach((demo, i) => rows.get(demo).node.setAttribute("aria-rowindex", i + 2));
  byId("grid").setAttribute("aria-rowcount", listed.length + 1);
  byId("grid").hidden = listed.length === 0;
  byId("empty").hidden = listed.length !== 0;
  const all = plural(demos.length, "demonstration");
  byId("shown").textContent = listed.length === demos.length ? all : `${countText(listed.length)} of ${all}`;
  if (listed.length && !listed.includes(stop)) makeStop(listed[0]);
  showChips();
  markBorder();
}

function showChips() {
  const chips = byId("chips");
  chips.hidden = state.maker === null;
  if (state.maker === null) return;
  const name = makers.get(state.maker).name;
  const chip = element("button", { type: "button", "aria-label": `Show all demonstrators, not only ${name}` }, `${name} ×`);
  chip.addEventListener("click", () => chooseMaker(null));
  chips.replaceChildren(chip);
}

// Where the ranking by score passes the cut: the first demonstration beyond it.
function borderDemo() {
  if (state.sort !== "score" || state.cut === null) return undefined;
  return listed.find((demo, i) => i > 0 && kept(demo) !== kept(listed[i - 1]));
}

function markBorder() {
  document.querySelector(".row.border")?.classList.remove("border");
  const border = borderDemo();
  if (border) rows.get(border).node.classList.add("border");
  byId("to-cut").hidden = state.cut === null || !listed.some(kept) || listed.every(kept);
}

function goToCut() {
  if (state.sort !== "score") sortBy("score", false);
  const border = borderDemo();
  focusRow(border);
  rows.get(border).node.scrollIntoView({ block: "center" });
}

function chooseMaker(id) {
  state.maker = id;
  markDemonstrator();
  showList();
}

// After the cut moved: words and colours change, the order only where it depends on the verdict.
function updateRows() {
  painting += 1;
  for (const [demo, row] of rows) {
    const verdict = verdictOf(demo);
    if (row.decision.textContent !== verdict) {
      row.decision.textContent = verdict;
      row.decision.className = `pill ${verdict}`;
    }
  }
  for (const demo of inSight) paintRow(demo);
  paintLegend();
  if (state.show !== "all" || state.sort === "verdict") showList();
  else markBorder();
}

function paintRow(demo) {
  const row = rows.get(demo);
  if (row.painted === painting) return;
  row.painted = painting;
  paintStrip(row.canvas, demo.strip);
}

// One row at a time can be reached by Tab; arrow keys move on from it.
function makeStop(demo) {
  if (stop) rows.get(stop).node.tabIndex = -1;
  stop = demo;
  rows.get(demo).node.tabIndex = 0;
}

function moveFocus(event) {
  const at = listed.findIndex((demo) => rows.get(demo).node === event.target);
  const to = {
    ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 10, PageUp: at - 10, Home: 0, End: listed.length - 1,
  }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  focusRow(listed[Math.max(0, Math.min(listed.length - 1, to))]);
}

function focusRow(demo) {
  makeStop(demo);
  rows.get(demo).node.focus({ preventScroll: true });
  rows.get(demo).node.scrollIntoView({ block: "nearest" });
}

function setUpList(open) {
  byId("grid").style.setProperty("--columns", columns.map(({ width }) => width).join(" "));
  for (const demo of demos) rows.set(demo, makeRow(demo));
  const demoOf = new Map(demos.map((demo) => [rows.get(demo).node, demo]));
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const demo = demoOf.get(target);
      inSight[isIntersecting ? "add" : "delete"](demo);
      if (isIntersecting) paintRow(demo);
    }
  }, { rootMargin: "300px" });
  for (const node of demoOf.keys()) observer.observe(node);
  byId("sort").append(...sorts.map(({ key, label }) => element("option", { value: key }, label.toLowerCase())));
  byId("sort").addEventListener("change", (event) => {
    sortBy(event.target.value, sorts.find(({ key }) => key === event.target.value).first);
  });
  byId("direction").addEventListener("click", () => sortBy(state.sort, !state.descending));
  byId("search").addEventListener("input", (event) => {
    state.query = event.target.value.trim();
    showList();
  });
  byId("show").addEventListener("change", (event) => {
    state.show = event.target.value;
    showList();
  });
  byId("clear").addEventListener("click", showAll);
  byId("to-cut").addEventListener("click", goToCut);
  byId("scale").addEventListener("change", (event) => {
    for (const [demo, row] of rows) row.canvas.style.width = event.target.checked ? `${(100 * demo.pairs) / longest}%` : "";
  });
  const list = byId("rows");
  list.addEventListener("click", (event) => {
    const demo = demoOf.get(event.target.closest(".row"));
    if (demo && !String(getSelection())) open(demo);
  });
  list.addEventListener("keydown", (event) => {
    const demo = demoOf.get(event.target);
    if (demo && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      open(demo);
    } else {
      moveFocus(event);
    }
  });
  list.addEventListener("focusin", (event) => {
    if (demoOf.has(event.target)) makeStop(demoOf.get(event.target));
  });
}

function showAll() {
  Object.assign(state, { query: "", show: "all" });
  byId("search").value = "";
  byId("show").value = "all";
  chooseMaker(null);
  byId("search").focus();
}
