// Putting it together.

function say(text) {
  byId("status").textContent = text;
}

let waiting = 0; // speech follows when the slider has come to rest
let scheduled = false; // at most one repaint a frame, however fast the slider moves

function decisionsChanged() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    rejudge();
    const spoken = showCounts();
    clearTimeout(waiting);
    waiting = setTimeout(() => say(spoken), 400);
    drawHistogram();
    for (const refresh of updaters) refresh();
    showMarks();
    if (state.show !== "all" || ["decision", "reason"].includes(state.sort)) showList();
    else refreshRows();
    if (dialog.open) drawDetail();
  });
}

// The same rows with other words; the keyboard stays where it was.
function refreshRows() {
  const row = document.activeElement?.closest?.(".row");
  const mark = document.activeElement?.dataset?.mark;
  drawRows(true);
  if (!row) return;
  const again = shown.get(row.place);
  (mark ? again?.querySelector(`[data-mark="${mark}"]`) : again)?.focus({ preventScroll: true });
}

function drawAbout() {
  const flat = (value) => (Array.isArray(value) ? value.map(plain).join("\n") : plain(value));
  const facts = Object.entries(page.source).filter(([, value]) => value !== null && value !== "" && value !== 0 && flat(value) !== "");
  byId("about-facts").replaceChildren(...facts.flatMap(([name, value]) => [element("dt", {}, name.replaceAll("_", " ")), element("dd", {}, flat(value))]));
  byId("pictures-note").textContent = page.note;
}

rejudge();
setUpCut(decisionsChanged);
setUpExport(say);
setUpFamilies(openDetail);
setUpDemonstrators();
setUpJudges();
setUpMarks(say);
setUpList(openDetail);
setUpDetail();
drawAbout();
drawColumns();
showCounts();
drawHistogram();
showList();

new ResizeObserver(() => {
  drawHistogram();
  measure();
  drawRows(true);
}).observe(byId("histogram"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawHistogram());
addEventListener("beforeprint", () => {
  printing = listed.length <= 2000;
  drawRows(true);
});
addEventListener("afterprint", () => {
  printing = false;
  drawRows(true);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !dialog.open && !event.target.closest("input, select, textarea")) {
    event.preventDefault();
    byId("search").focus();
  }
});
