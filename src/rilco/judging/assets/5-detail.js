// One demonstration: what each judge says of it, and its signals against its family's.

const dialog = byId("detail");
let shownDemo = null;

function openDetail(demo) {
  shownDemo = demo;
  const at = listed.indexOf(demo);
  if (at >= 0) stop = at;
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
  const { decision, reason, judge } = now[demo.index];
  const parts = [
    element("div", {},
      element("h2", { id: "detail-name", tabindex: "-1" }, demo.name, pill(decision)),
      element("p", { class: "lede" }, reason, element("small", {}, ` Judge: ${judgeName(judge).toLowerCase()}`)),
      element("div", { class: "actions" }, markButtons("demo", demo.index, "this demonstration")),
      propertyList(demo)),
    filmSection(demo),
    signalSection(demo),
    opinionSection(demo),
  ];
  byId("detail-body").replaceChildren(...parts.filter((part) => part !== null));
  // The keyboard must not be lost with what was replaced, nor stay on a button that has just been switched off.
  const focused = document.activeElement;
  if (!dialog.contains(focused) || focused === dialog || focused.disabled) byId("detail-name").focus();
}

function propertyList(demo) {
  const changed = marked() || state.moved;
  const likely = demo.likely === 100 ? ">99%" : demo.likely === 0 ? "<1%" : `${demo.likely}%`;
  const list = [
    // Beside "unsure", and beside the reader's own word, a probability would only say otherwise.
    changed || demo.own === "unsure" ? null : ["How likely good", `${likely} (dropped up to ${Math.round(BAD_UP_TO)}%, kept from ${Math.round(GOOD_FROM)}%)`],
    families.length ? ["Family", familyName(demo)] : null,
    ["Pairs", countText(demo.pairs)],
    ["Score", scoreText(demo.score)],
    demo.return === null ? null : ["Return", returnText(demo.return)],
    makers.length > 1 ? ["Demonstrator", makerNames[demo.maker]] : null,
    demo.label === null ? null : ["Known label", demo.label],
  ].filter((pair) => pair !== null);
  return element("dl", { class: "properties" },
    ...list.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

function opinionSection(demo) {
  const rows = page.opinions.map((opinion) => {
    const good = opinion.good?.[demo.index];
    const word = good === undefined ? "abstains" : good >= GOOD_FROM ? "keep" : good <= BAD_UP_TO ? "drop" : "unsure";
    // Of one who sees no fault, or has nothing to say, "unsure" would say otherwise.
    const short = word !== "unsure" ? word : good === 50 ? "no say" : good > 50 ? "no fault" : "doubts";
    const text = good === undefined ? opinion.why : opinion.reason.texts[opinion.reason.of[demo.index]];
    return element("tr", {}, element("th", { scope: "row" }, judgeName(opinion.judge)), element("td", {}, pill(word, short)), element("td", {}, text));
  });
  if (!rows.length) return null;
  return element("section", { "aria-labelledby": "opinions-heading" },
    element("h3", { id: "opinions-heading" }, "What each judge says"), element("table", { class: "opinions" }, element("tbody", {}, ...rows)));
}

// -- signals ------------------------------------------------------------------------------------------------------

function signalSection(demo) {
  const where = demo.family < 0 ? "all demonstrations" : familyName(demo);
  const note = `The line is this demonstration, from its first to its last step. The shaded range holds eight in ten of ${where}, the thin line is their middle.`;
  return element("section", { class: "signals", "aria-labelledby": "signals-heading" },
    element("h3", { id: "signals-heading" }, "Its signals against its family"),
    element("p", { class: "quiet" }, note),
    ...SIGNALS.map((name, s) => signalChart(demo, name, s)));
}

const CLASSIFIERS = "RIL-Co's classifiers";

function signalChart(demo, name, s) {
  const frame = { width: 640, height: 92, left: 52, right: 6, top: 6, bottom: 18 };
  const [low, high] = [page.signals.low[s], page.signals.high[s]];
  const x = (p) => frame.left + (p / (POINTS - 1)) * (frame.width - frame.left - frame.right);
  const y = (value) => frame.height - frame.bottom - (value / 255) * (frame.height - frame.top - frame.bottom);
  const path = (values) => Array.from(values, (value, p) => `${p ? "L" : "M"}${x(p).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const [tenth, middle, ninetieth] = bandOf(demo, s);
  const band = path(tenth) + [...ninetieth.keys()].reverse().map((p) => `L${x(p).toFixed(1)} ${y(ninetieth[p]).toFixed(1)}`).join("") + "Z";
  const levels = ticks(low, high, 4);
  const unit = (value) => (255 * (value - low)) / (high - low);
  const steps = ticks(0, demo.pairs, 6).values.filter(Number.isInteger);
  const svg = drawing("svg", { viewBox: `0 0 ${frame.width} ${frame.height}`, role: "img", "aria-label": `${name} of ${demo.name} over ${plural(demo.pairs, "step")}` },
    ...levels.values.flatMap((value) => [
      drawing("line", { class: "grid", x1: frame.left, x2: frame.width - frame.right, y1: y(unit(value)), y2: y(unit(value)) }),
      drawing("text", { x: frame.left - 6, y: y(unit(value)) + 4, "text-anchor": "end" }, scoreText(value, levels.digits)),
    ]),
    drawing("path", { class: "band", d: band }), drawing("path", { class: "middle", d: path(middle) }),
    drawing("path", { class: `line ${decisionOf(demo)}`, d: path(signalOf(demo, s)) }),
    ...steps.map((step) => drawing("text", { // the last one's right half would leave the drawing
      x: x((step / demo.pairs) * (POINTS - 1)), y: frame.height - 4, "text-anchor": step > 0.97 * demo.pairs ? "end" : "middle",
    }, countText(step))));
  const about = name === CLASSIFIERS
    ? "How much each step looks like the bulk of the demonstrations (high) or like what the learner has outgrown (low)." : null;
  return element("figure", { class: "signal" }, element("figcaption", {}, element("b", {}, name), about && element("span", { class: "quiet" }, ` ${about}`)), svg);
}

// -- pictures -----------------------------------------------------------------------------------------------------

function filmSection(demo) {
  const film = page.films[demo.index];
  if (!film) return null;
  return element("section", { "aria-label": "Pictures" },
    element("div", { class: "film" }, ...film.images.map((image, i) => element("figure", {},
      element("img", { src: image, alt: `${demo.name} at step ${film.steps[i]}`, loading: "lazy" }),
      element("figcaption", {}, `step ${countText(film.steps[i])}`)))));
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
  dialog.addEventListener("close", () => listed.includes(shownDemo) && focusPlace(listed.indexOf(shownDemo)));
}
