// The demonstrations. Only the rows in sight are in the document, so ten thousand are as quick as ten.

const COLUMNS = [
  { key: "name", label: "Demonstration", width: "minmax(6.5rem, 1.5fr)", first: false },
  { key: null, label: SIGNALS[0], width: "minmax(4rem, 0.9fr)" },
  { key: "reason", label: "Why", width: "minmax(8rem, 2fr)", first: false },
  { key: "family", label: "Family", width: "3.1rem", first: false },
  { key: "length", label: "Pairs", width: "3rem", first: true },
  { key: "return", label: "Return", width: "3.3rem", first: true },
  { key: "score", label: "Score", width: "3.2rem", first: false },
  { key: "label", label: "Label", width: "2.7rem", first: false },
  { key: "decision", label: "Decision", width: "4rem", first: false },
  { key: "mark", label: "Your word", width: "5.9rem" },
];
const hasReturns = demos.some((demo) => demo.return !== null);
const hasLabels = demos.some((demo) => demo.label !== null);
const columns = COLUMNS.filter(({ key }) =>
  (key !== "return" || hasReturns) && (key !== "label" || hasLabels) && (key !== "family" || families.length > 0));
const sorts = columns.filter(({ first }) => first !== undefined);

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const VALUES = {
  score: (demo) => demo.score,
  return: (demo) => demo.return ?? Infinity,
  length: (demo) => demo.pairs,
  name: (demo) => demo.name,
  family: (demo) => (demo.family < 0 ? Infinity : demo.family),
  reason: (demo) => now[demo.index].reason,
  label: (demo) => demo.label ?? "",
  decision: (demo) => ["drop", "unsure", "keep"].indexOf(decisionOf(demo)),
};
const OVERSCAN = 8;
let listed = []; // demonstrations in the order shown
let shown = new Map(); // place in the list -> its row
let stop = 0; // the place whose row Tab reaches
let rowHeight = 64;

function makeRow(demo, place) {
  const number = (label, text) => element("div", { role: "gridcell", class: "number soft", "data-label": label }, text);
  const maker = makerName(demo);
  const { decision, reason, judge } = now[demo.index];
  const cells = {
    name: () => element("div", { role: "rowheader", class: "who" }, element("b", {}, demo.name),
      maker && !demo.name.includes(maker) ? element("small", {}, maker) : null),
    null: () => element("div", { role: "gridcell", class: "strip" }, sparkline(demo, 0, 200, 34)),
    reason: () => element("div", { role: "gridcell", class: "why", title: `${judgeName(judge)}: ${reason}` }, reason),
    family: () => element("div", { role: "gridcell", class: "soft", "data-label": "family" }, familyName(demo).replace("family ", "")),
    length: () => number("pairs", countText(demo.pairs)),
    return: () => number("return", demo.return === null ? "–" : returnText(demo.return)),
    score: () => number("score", scoreText(demo.score)),
    label: () => number("label", demo.label ?? "–"),
    decision: () => element("div", { role: "gridcell", class: "decision" }, pill(decision)),
    mark: () => element("div", { role: "gridcell", class: "mark" }, markButtons("demo", demo.index, demo.name)),
  };
  const row = element("div", {
    role: "row", class: "row", tabindex: place === stop ? "0" : "-1", "data-index": demo.index, "aria-rowindex": place + 2,
  }, ...columns.map(({ key }) => cells[key]()));
  row.style.transform = `translateY(${place * rowHeight}px)`;
  row.demo = demo;
  row.place = place;
  return row;
}

// Rows of one height, high enough for the longest name: a name is never cut.
function measure() {
  const box = byId("rows");
  const narrow = matchMedia("(max-width: 43.99rem)").matches;
  const longest = demos.reduce((most, demo) => Math.max(most, demo.name.length), 0);
  const wide = narrow ? box.clientWidth - 110 : Math.max(130, (box.clientWidth - 460) * 0.24);
  const lines = Math.ceil((longest * 7.6) / Math.max(80, wide));
  rowHeight = (narrow ? 132 : 64) + Math.max(0, lines - 2) * 18;
  byId("grid").style.setProperty("--row", `${rowHeight}px`);
}

function drawRows(anew = false) {
  const box = byId("rows");
  if (anew) {
    for (const row of shown.values()) row.remove();
    shown = new Map();
  }
  box.style.height = `${listed.length * rowHeight}px`;
  const top = -box.getBoundingClientRect().top;
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN);
  const last = printing ? listed.length : Math.min(listed.length, Math.ceil((top + innerHeight) / rowHeight) + OVERSCAN);
  for (const [place, row] of shown) {
    if ((place < first || place >= last) && !row.contains(document.activeElement)) {
      row.remove();
      shown.delete(place);
    }
  }
  const fresh = [];
  for (let place = printing ? 0 : first; place < last; place += 1) {
    if (shown.has(place)) continue;
    shown.set(place, makeRow(listed[place], place));
    fresh.push(shown.get(place));
  }
  box.append(...fresh);
}
let printing = false;

function drawColumns() {
  byId("columns").replaceChildren(...columns.map(({ key, label, first }) => {
    const sorted = key === state.sort ? (state.descending ? "descending" : "ascending") : null;
    const kind = ["length", "return", "score", "label"].includes(key) ? "number" : "";
    const head = element("div", { role: "columnheader", class: kind, "aria-sort": sorted });
    if (first === undefined) {
      head.append(label);
      if (key === null) head.title = "The most telling signal over the demonstration’s time. Shaded: the range of its family.";
      return head;
    }
    const button = element("button", { type: "button", "data-sort": key }, label);
    if (key === "score") button.title = "Ranks demonstrations: high is like the good ones. The cut goes by it.";
    button.addEventListener("click", () => sortBy(key, key === state.sort ? !state.descending : first));
    head.append(button);
    return head;
  }));
  byId("sort").value = state.sort;
  const direction = byId("direction");
  direction.textContent = state.descending ? "↓" : "↑";
  direction.setAttribute("aria-label", state.descending ? "Descending; sort ascending" : "Ascending; sort descending");
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

function showList() {
  const words = state.query.toLowerCase().split(/\s+/);
  listed = demos.filter((demo) => {
    if (state.maker !== null && demo.maker !== state.maker) return false;
    if (state.family !== null && demo.family !== state.family) return false;
    if (state.show !== "all" && decisionOf(demo) !== state.show) return false;
    const text = `${demo.name} ${makerName(demo)} ${familyName(demo)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  }).sort(compare);
  stop = Math.min(stop, Math.max(0, listed.length - 1));
  drawRows(true);
  byId("grid").setAttribute("aria-rowcount", listed.length + 1);
  byId("grid").hidden = listed.length === 0;
  byId("empty").hidden = listed.length !== 0;
  const all = plural(demos.length, "demonstration");
  byId("shown").textContent = listed.length === demos.length ? all : `${countText(listed.length)} of ${all}`;
  showChips();
}

function showChips() {
  const chosen = [["family", families[state.family]?.name], ["maker", makerNames[state.maker]]].filter(([kind]) => state[kind] !== null);
  byId("chips").hidden = chosen.length === 0;
  byId("chips").replaceChildren(...chosen.map(([kind, name]) => {
    const chip = element("button", { type: "button", "aria-label": `Show all, not only ${name}` }, `${name} ×`);
    chip.addEventListener("click", () => choose(kind, null));
    return chip;
  }));
}

function choose(kind, index) {
  state[kind] = index;
  for (const refresh of updaters) refresh();
  showList();
}

// One row at a time can be reached by Tab; arrow keys move on from it.
function focusPlace(place) {
  const to = Math.max(0, Math.min(listed.length - 1, place));
  const top = byId("rows").getBoundingClientRect().top + scrollY + to * rowHeight;
  if (top < scrollY + 60) scrollTo(0, top - 60);
  else if (top + rowHeight > scrollY + innerHeight) scrollTo(0, top + rowHeight - innerHeight + 8);
  drawRows();
  shown.get(stop)?.setAttribute("tabindex", "-1");
  stop = to;
  shown.get(to).setAttribute("tabindex", "0");
  shown.get(to).focus({ preventScroll: true });
}

function moveFocus(event) {
  const { place } = event.target;
  const to = {
    ArrowDown: place + 1, ArrowUp: place - 1, PageDown: place + 10, PageUp: place - 10, Home: 0, End: listed.length - 1,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  focusPlace(to);
}

function setUpList(open) {
  byId("grid").style.setProperty("--columns", columns.map(({ width }) => width).join(" "));
  measure();
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
  byId("clear").addEventListener("click", () => {
    Object.assign(state, { query: "", show: "all", maker: null, family: null });
    byId("search").value = "";
    byId("show").value = "all";
    choose("maker", null);
    byId("search").focus();
  });
  const list = byId("rows");
  list.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row && !event.target.closest("button") && !String(getSelection())) open(row.demo);
  });
  list.addEventListener("keydown", (event) => {
    if (!event.target.classList.contains("row")) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(event.target.demo);
    } else {
      moveFocus(event);
    }
  });
  for (const moved of ["scroll", "resize"]) addEventListener(moved, () => drawRows(), { passive: true });
}
