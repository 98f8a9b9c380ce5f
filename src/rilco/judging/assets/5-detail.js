// One demonstration: its scores over time enlarged, its windows in numbers, and pictures where there are some.

const dialog = byId("detail");
let shownDemo = null;

function openDetail(demo) {
  shownDemo = demo;
  makeStop(demo);
  const opening = !dialog.open;
  if (opening) dialog.showModal();
  drawDetail();
  if (opening) byId("detail-name").focus();
  dialog.scrollTop = 0;
}

function drawDetail() {
  const demo = shownDemo;
  const at = listed.indexOf(demo);
  byId("position").textContent = at < 0 ? "" : `${countText(at + 1)} of ${countText(listed.length)}`;
  byId("previous").disabled = at <= 0;
  byId("next").disabled = at < 0 || at >= listed.length - 1;
  const chart = element("div", { class: "chart" });
  const parts = [
    element("div", {},
      element("h2", { id: "detail-name", tabindex: "-1" }, demo.name, pill(verdictOf(demo))),
      propertyList(demo)),
    element("section", { "aria-label": "Score over time" }, chart),
    pictureSection(demo),
    windowSection(demo),
  ];
  byId("detail-body").replaceChildren(...parts.filter((part) => part !== null));
  // The keyboard must not be lost with what was replaced, nor stay on a button that has just been switched off.
  const focused = document.activeElement;
  if (!dialog.contains(focused) || focused === dialog || focused.disabled) byId("detail-name").focus();
  drawChart(chart, demo);
}

function propertyList(demo) {
  const maker = makerName(demo);
  const list = [
    ["Score", scoreText(demo.score)],
    ["P(expert)", probabilityText(demo.expert_probability)],
    ["Pairs", countText(demo.pairs)],
    demo.episode_return === null ? null : ["Return", returnText(demo.episode_return)],
    maker ? ["Demonstrator", maker] : null,
    demo.truth === null ? null : ["Label", demo.truth],
  ].filter((pair) => pair !== null);
  return element("dl", { class: "properties" },
    ...list.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

// -- the chart ------------------------------------------------------------------------------------------------

function drawChart(box, demo) {
  const frame = { left: 44, right: 30, top: 18, bottom: 150, width: Math.max(240, box.clientWidth) };
  const values = demo.strip;
  const cut = state.cut;
  // The same range for all, so that demonstrations compare, and wider only for one that leaves it.
  const low = Math.min(...values, binLow, cut ?? binLow);
  const high = Math.max(...values, binHigh, cut ?? binHigh) + (binLow === binHigh ? 1 : 0);
  const x = (step) => frame.left + (step / demo.pairs) * (frame.width - frame.left - frame.right);
  const y = (score) => frame.bottom - ((score - low) / (high - low)) * (frame.bottom - frame.top);
  const outline = values.map((value, i) => {
    const end = Math.min(demo.pairs, (i + 1) * demo.strip_pairs);
    return `${i ? "L" : "M"}${x(i * demo.strip_pairs).toFixed(1)} ${y(value).toFixed(1)}H${x(end).toFixed(1)}`;
  }).join("");
  const base = cut === null ? frame.bottom : y(cut);
  const area = `${outline}V${base}H${frame.left}Z`;
  const side = (name, top, bottom) => [
    drawing("clipPath", { id: `area-${name}` },
      drawing("rect", { x: 0, y: top, width: frame.width, height: Math.max(0, bottom - top) })),
    drawing("path", { class: `area ${name}`, d: area, "clip-path": `url(#area-${name})` }),
  ];
  const cross = drawing("line", { class: "cross", y1: frame.top, y2: frame.bottom, visibility: "hidden" });
  const label = `Scores of ${demo.name} over ${plural(demo.pairs, "step")}, from ${scoreText(Math.min(...values))} to ` +
    `${scoreText(Math.max(...values))}. The windows below give them in numbers.`;
  const svg = drawing("svg", { width: frame.width, height: frame.bottom + 6, role: "img", "aria-label": label },
    ...momentBands(demo, x, frame), ...scoreGrid(low, high, y, frame),
    ...side("keep", frame.top, base), ...side("drop", base, frame.bottom),
    drawing("path", { class: "line", d: outline }),
    cut === null ? null : drawing("line", { class: "cutline", x1: frame.left, x2: frame.width - frame.right, y1: base, y2: base }),
    cut === null ? null : drawing("text", { x: frame.width - frame.right + 5, y: base + 4 }, "cut"),
    cross);
  const strip = element("canvas", { "aria-hidden": "true" });
  paintStrip(strip, values);
  strip.style.marginLeft = `${frame.left}px`;
  strip.style.width = `${frame.width - frame.left - frame.right}px`;
  const reading = element("p", { class: "reading" });
  box.replaceChildren(svg, strip, stepAxis(demo, x, frame), reading);
  readOnHover(box, demo, { x, frame, cross, reading });
}

function momentBands(demo, x, frame) {
  const bands = demo.windows.length < 2 ? [] : [["worst", demo.worst_step], ["best", demo.best_step]];
  const close = Math.abs(x(demo.best_step) - x(demo.worst_step)) < 40;
  return bands.flatMap(([name, step]) => {
    const end = Math.min(demo.pairs, step + audit.window_pairs);
    // Neighbouring labels lean away from each other.
    const first = step === Math.min(demo.worst_step, demo.best_step);
    const anchor = !close ? "middle" : first ? "end" : "start";
    const place = !close ? (x(step) + x(end)) / 2 : first ? x(end) - 1 : x(step) + 1;
    return [
      drawing("rect", { class: "moment", x: x(step), y: frame.top, width: x(end) - x(step), height: frame.bottom - frame.top }),
      drawing("text", { x: place, y: frame.top - 6, "text-anchor": anchor }, name),
    ];
  });
}

function scoreGrid(low, high, y, frame) {
  const marks = ticks(low, high, 4);
  return marks.values.flatMap((value) => [
    drawing("line", { class: "grid", x1: frame.left, x2: frame.width - frame.right, y1: y(value), y2: y(value) }),
    drawing("text", { x: frame.left - 6, y: y(value) + 4, "text-anchor": "end" }, scoreText(value, marks.digits)),
  ]);
}

function stepAxis(demo, x, frame) {
  const marks = ticks(0, demo.pairs, 6).values.filter(Number.isInteger);
  return drawing("svg", { width: frame.width, height: 18, "aria-hidden": "true" },
    ...marks.map((step) => drawing("text", { x: x(step), y: 13, "text-anchor": "middle" }, countText(step))),
    drawing("text", { x: frame.left - 6, y: 13, "text-anchor": "end" }, "step"));
}

function readOnHover(box, demo, { x, frame, cross, reading }) {
  const rest = demo.strip_pairs === 1 ? "One value a step." : `Means over ${demo.strip_pairs} steps.`;
  reading.textContent = rest;
  box.onpointermove = (event) => {
    const place = (event.clientX - box.getBoundingClientRect().left - frame.left) / (frame.width - frame.left - frame.right);
    const bin = Math.floor((place * demo.pairs) / demo.strip_pairs);
    const inside = bin >= 0 && bin < demo.strip.length;
    cross.setAttribute("visibility", inside ? "visible" : "hidden");
    if (!inside) return;
    const first = bin * demo.strip_pairs;
    const last = Math.min(demo.pairs, first + demo.strip_pairs) - 1;
    const middle = x((first + last + 1) / 2);
    cross.setAttribute("x1", middle);
    cross.setAttribute("x2", middle);
    reading.textContent = `${stepsText(first, last)}: score ${scoreText(demo.strip[bin])}`;
  };
  box.onpointerleave = () => {
    cross.setAttribute("visibility", "hidden");
    reading.textContent = rest;
  };
}

const stepsText = (first, last) => (first === last ? `Step ${countText(first)}` : `Steps ${countText(first)}–${countText(last)}`);

// -- pictures and windows -------------------------------------------------------------------------------------

function pictureSection(demo) {
  const found = audit.pictures[demo.index];
  if (!found) {
    const some = Object.keys(audit.pictures).length > 0;
    const note = `${some ? "No pictures here. " : ""}${audit.pictures_note}`;
    return note ? element("p", { class: "quiet" }, note) : null;
  }
  const moments = found.best
    ? [["Worst moment", demo.worst_step, found.worst], ["Best moment", demo.best_step, found.best]]
    : [["In pictures", demo.worst_step, found.worst]];
  return element("section", { class: "moments", "aria-label": "Pictures" }, ...moments.map(([title, step, moment]) => {
    const score = demo.windows[Math.floor(step / audit.window_pairs)];
    const last = Math.min(demo.pairs, step + audit.window_pairs) - 1;
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = shadeText(score);
    return element("div", {},
      element("h3", {}, swatch, title, " ", element("span", { class: "quiet" }, `${stepsText(step, last).toLowerCase()}, score ${scoreText(score)}`)),
      element("div", { class: "film" }, ...moment.images.map((image, i) => element("figure", {},
        element("img", { src: image, alt: `${demo.name} at step ${moment.steps[i]}`, loading: "lazy" }),
        element("figcaption", {}, `step ${countText(moment.steps[i])}`)))));
  }), element("p", { class: "quiet" }, audit.pictures_note));
}

function windowSection(demo) {
  const all = demo.windows;
  const reach = Math.max(...all.map((value) => Math.abs(value - (state.cut ?? Math.min(...all))))) || 1;
  const rowOf = (value, i) => {
    const first = i * audit.window_pairs;
    const last = Math.min(demo.pairs, first + audit.window_pairs) - 1;
    const bar = element("i");
    bar.style.background = shadeText(value);
    bar.style.width = `${Math.max(3, (100 * Math.abs(value - (state.cut ?? Math.min(...all)))) / reach)}%`;
    const mark = all.length < 2 ? "" : first === demo.worst_step ? "worst" : first === demo.best_step ? "best" : "";
    return element("tr", {},
      element("th", { scope: "row" }, `${countText(first)}–${countText(last)}`),
      element("td", { class: "number" }, scoreText(value)),
      element("td", { class: "mark" }, mark),
      element("td", {}, bar));
  };
  // Two tables side by side; each says what its columns are to those who hear it.
  const half = all.length > 6 ? Math.ceil(all.length / 2) : all.length;
  const table = (from, to) => element("table", {},
    element("caption", { class: "unseen" }, "Score of each window"),
    element("thead", { class: "unseen" }, element("tr", {},
      ...["Steps", "Score", "Note", state.cut === null ? "Distance to the worst" : "Distance to the cut"].map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...all.slice(from, to).map((value, i) => rowOf(value, from + i))));
  return element("section", { "aria-labelledby": "windows-heading" },
    element("h3", { id: "windows-heading" }, `Windows of ${audit.window_pairs} steps`),
    element("div", { class: half < all.length ? "windows" : "windows single" }, table(0, half), half < all.length ? table(half) : null));
}

// -- moving about ----------------------------------------------------------------------------------------------

function stepDetail(by) {
  const to = listed[listed.indexOf(shownDemo) + by];
  if (to) openDetail(to);
}

function setUpDetail() {
  byId("previous").addEventListener("click", () => stepDetail(-1));
  byId("next").addEventListener("click", () => stepDetail(1));
  byId("close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog && event.clientX < dialog.getBoundingClientRect().left) dialog.close();
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") stepDetail(-1);
    if (event.key === "ArrowRight") stepDetail(1);
  });
  dialog.addEventListener("close", () => focusRow(shownDemo));
}
