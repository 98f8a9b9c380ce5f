// Putting it together.

function say(text) {
  byId("status").textContent = text;
}

let waiting = 0; // speech follows when the slider has come to rest
let scheduled = false; // at most one repaint a frame, however fast the slider moves

function cutChanged() {
  const spoken = showCut();
  placeCut();
  clearTimeout(waiting);
  waiting = setTimeout(() => say(spoken), 400);
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    updateRows();
    paintTicks();
  });
}

function drawGauges() {
  const part = (kind, from, to) => {
    const mark = element("i", { class: kind });
    mark.style.left = `${100 * from}%`;
    if (to !== undefined) mark.style.width = `${100 * (to - from)}%`;
    return mark;
  };
  byId("sure-gauge").replaceChildren(part("fill", 0, audit.verdict.confidence ?? 0));
  const noise = audit.noise_fraction;
  byId("noise-gauge").hidden = noise === null;
  if (noise) byId("noise-gauge").replaceChildren(part("range", noise.low, noise.high), part("half", 0.5), part("point", noise.estimate));
}

function drawAbout() {
  const flat = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : String(value));
  const facts = [
    ["Environment", audit.task],
    ["Files", audit.files.join("\n")],
    ["Transitions", countText(audit.transitions)],
    ["Seeds", audit.seeds.join(", ")],
    ...Object.entries(audit.settings).map(([name, value]) => [name, flat(value)]),
  ];
  byId("about").replaceChildren(
    element("p", {}, "A score is how much more a pair looks like the bulk of the demonstrations than like the learner " +
      "and the pairs that both classifiers reject; it comes from the classifier that did not learn from the pair. High is " +
      "expert. A window's score is that of its best pairs, less what these are above the mean in a typical window; a " +
      "demonstration's is the mean of its windows', and the cut goes by it. P(expert) is calibrated from the scores. All " +
      "of it rests on one assumption: more than half of the pairs are an expert's."),
    element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])));
}

function repaint(ramp) {
  readRamp(ramp);
  drawHistogram();
  updateRows();
  paintTicks();
  if (dialog.open) drawDetail();
}

readRamp();
setUpCut(cutChanged);
setUpExport(say);
setUpDemonstrators(chooseMaker);
setUpList(openDetail);
setUpDetail();
drawGauges();
drawAbout();
drawColumns();
drawHistogram();
showCut();
showList();
paintLegend();
paintTicks();

new ResizeObserver(() => {
  drawHistogram();
  paintTicks();
}).observe(byId("histogram"));
addEventListener("resize", () => dialog.open && drawDetail());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => repaint());
addEventListener("beforeprint", () => {
  repaint("--light-ramp");
  for (const demo of listed) paintRow(demo);
});
addEventListener("afterprint", () => repaint());
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !dialog.open && !event.target.closest("input, select, textarea")) {
    event.preventDefault();
    byId("search").focus();
  }
});
