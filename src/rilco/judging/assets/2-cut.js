// The histogram, the slider under it and the counts: everything that is about the cut.

const SLIDER = 1000;
const MARGIN = 10; // half of the slider's thumb: its middle and the histogram's axis then agree
const BARS = 44;
const plot = { width: 0, height: 0, line: null, own: null, dropClip: null, keepClip: null };

const fraction = (score) => (score - axis.low) / (axis.high - axis.low);
const across = (score) => MARGIN + fraction(score) * (plot.width - 2 * MARGIN);
const scoreAt = (place) => axis.low + place * (axis.high - axis.low);

function histogramCounts() {
  const weigh = byId("weight").value === "pairs" ? (demo) => demo.pairs : () => 1;
  const counts = new Array(BARS).fill(0);
  for (const demo of demos) {
    counts[Math.min(BARS - 1, Math.floor(fraction(demo.score) * BARS))] += weigh(demo);
  }
  return counts;
}

function drawHistogram() {
  const box = byId("histogram");
  plot.width = box.clientWidth;
  plot.height = box.clientHeight;
  const top = 20;
  const counts = histogramCounts();
  const most = Math.max(...counts);
  const up = (count) => plot.height - (count / most) * (plot.height - top);
  const levels = ticks(0, most, 3).values.filter((count) => count > 0 && Number.isInteger(count));
  const grid = levels.flatMap((count) => [
    drawing("line", { class: "grid", x1: MARGIN, x2: plot.width - MARGIN, y1: up(count), y2: up(count) }),
    drawing("text", { x: plot.width - MARGIN, y: up(count) - 3, "text-anchor": "end" }, countText(count)),
  ]);
  const wide = (plot.width - 2 * MARGIN) / BARS;
  const bars = (side) =>
    drawing("g", { class: side, "clip-path": `url(#${side}-side)` }, ...counts.map((count, i) =>
      count === 0 ? null : drawing("rect", {
        x: MARGIN + i * wide + 0.5, y: up(count), width: Math.max(1, wide - 1), height: plot.height - up(count), rx: 1,
      })));
  plot.dropClip = drawing("rect", { x: 0, y: 0, height: plot.height });
  plot.keepClip = drawing("rect", { y: 0, height: plot.height });
  plot.line = drawing("g", {},
    drawing("line", { class: "cutline", y1: 2, y2: plot.height + 10 }),
    drawing("text", { class: "drop", x: -7, y: 11, "text-anchor": "end" }, "drop"),
    drawing("text", { class: "keep", x: 7, y: 11 }, "keep"));
  plot.own = proposed === null ? null : drawing("line", {
    class: "proposed", x1: across(proposed), x2: across(proposed), y1: top, y2: plot.height,
  });
  const label = `Histogram of the scores of ${plural(demos.length, "demonstration")}, from ` +
    `${scoreText(lowest)} to ${scoreText(highest)}`;
  box.replaceChildren(drawing("svg", { width: plot.width, height: plot.height, viewBox: `0 0 ${plot.width} ${plot.height}`, role: "img", "aria-label": label },
    drawing("defs", {},
      drawing("clipPath", { id: "drop-side" }, plot.dropClip),
      drawing("clipPath", { id: "keep-side" }, plot.keepClip)),
    ...grid, bars("drop"), bars("keep"), plot.own, plot.line));
  drawAxis();
  placeCut();
}

function drawAxis() {
  const marks = ticks(axis.low, axis.high, 6);
  byId("axis").replaceChildren(drawing("svg", { width: plot.width, height: 16, viewBox: `0 0 ${plot.width} 16` },
    ...marks.values.map((value) =>
      drawing("text", { x: across(value), y: 11, "text-anchor": "middle" }, scoreText(value, marks.digits)))));
}

function placeCut() {
  const x = across(state.cut ?? axis.low);
  plot.line.setAttribute("transform", `translate(${x})`);
  plot.dropClip.setAttribute("width", Math.max(0, x));
  plot.keepClip.setAttribute("x", x);
  plot.keepClip.setAttribute("width", Math.max(0, plot.width - x));
  plot.own?.setAttribute("visibility", state.moved ? "visible" : "hidden");
  // A word that would leave the plot is left out: the counts below say the same.
  plot.line.querySelector(".drop").setAttribute("opacity", x < 40 ? 0 : 1);
  plot.line.querySelector(".keep").setAttribute("opacity", x > plot.width - 40 ? 0 : 1);
}

function tally() {
  const sums = { keep: { demos: 0, pairs: 0 }, drop: { demos: 0, pairs: 0 }, unsure: 0 };
  for (const demo of demos) {
    const side = sums[kept(demo) ? "keep" : "drop"];
    side.demos += 1;
    side.pairs += demo.pairs;
    if (verdictOf(demo) === "unsure") sums.unsure += 1;
  }
  return sums;
}

function showCut() {
  const { keep, drop, unsure } = tally();
  const share = keep.pairs / (keep.pairs + drop.pairs);
  const cutText = state.cut === null ? "none" : scoreText(state.cut);
  for (const [side, sums, part] of [["kept", keep, share], ["dropped", drop, 1 - share]]) {
    byId(`${side}-demonstrations`).textContent = plural(sums.demos, "demo");
    byId(`${side}-pairs`).textContent = plural(sums.pairs, "pair");
    byId(`${side}-share`).textContent = percentText(part);
  }
  byId("cut-value").textContent = cutText;
  const slider = byId("cut");
  const place = state.cut === null ? 0 : fraction(state.cut);
  slider.value = Math.round(SLIDER * place);
  slider.style.setProperty("--at", `${100 * place}%`);
  const spoken = `Cut ${cutText}: ${countText(keep.demos)} of ${plural(demos.length, "demonstration")} kept, ` +
    `${percentText(share)} of the pairs`;
  slider.setAttribute("aria-valuetext", spoken);
  const remark = unsure ? `${plural(unsure, "demonstration")} could be either; the counts go by the cut.` : "";
  byId("remark").textContent = state.moved ? "This cut is yours." : remark;
  const reset = byId("reset");
  reset.textContent = proposed === null ? "Back to no cut" : `Back to ${scoreText(proposed)}`;
  reset.disabled = !state.moved;
  showLabels();
  return spoken;
}

// Only where the demonstrations come with labels, which the audit has not seen.
function showLabels() {
  const share = (truth) => {
    const labelled = demos.filter((demo) => demo.truth === truth);
    const pairs = (some) => some.reduce((sum, demo) => sum + demo.pairs, 0);
    return labelled.length ? pairs(labelled.filter(kept)) / pairs(labelled) : null;
  };
  const parts = [["expert", share("expert")], ["non-expert", share("non-expert")]]
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${percentText(value)} of the ${name} pairs`);
  byId("labels").hidden = parts.length === 0;
  byId("labels").textContent = `By the known labels, kept are ${parts.join(" and ")}.`;
}

function setUpCut(changed) {
  const slider = byId("cut");
  const histogram = byId("histogram");
  const move = (place) => {
    // At the left end every score is above the cut: that is no cut.
    state.cut = place <= 0 ? null : scoreAt(Math.min(1, place));
    state.moved = state.cut !== proposed;
    changed();
  };
  slider.addEventListener("input", () => move(slider.valueAsNumber / SLIDER));
  const drag = (event) => {
    const x = event.clientX - histogram.getBoundingClientRect().left;
    move((x - MARGIN) / (plot.width - 2 * MARGIN));
  };
  histogram.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    histogram.setPointerCapture(event.pointerId);
    drag(event);
  });
  histogram.addEventListener("pointermove", (event) => {
    if (histogram.hasPointerCapture(event.pointerId)) drag(event);
  });
  byId("weight").addEventListener("change", drawHistogram);
  byId("reset").addEventListener("click", () => {
    state.cut = proposed;
    state.moved = false;
    changed();
    slider.focus();
  });
}

// -- the list of what is kept and dropped ----------------------------------------------------------------------

function csv() {
  const quote = (value) => `"${String(value).replaceAll('"', '""')}"`;
  const columns = ["index", "name", "demonstrator", "pairs", "return", "score", "expert_probability", "audit_verdict", "decision"];
  const rows = demos.map((demo) => [
    demo.index, quote(demo.name), quote(makerName(demo)), demo.pairs, demo.episode_return ?? "", demo.score,
    demo.expert_probability, demo.verdict, kept(demo) ? "keep" : "drop",
  ]);
  return [columns, ...rows].map((row) => row.join(",")).join("\n") + "\n";
}

function setUpExport(say) {
  byId("download").addEventListener("click", () => {
    const cutName = state.cut === null ? "no-cut" : `cut-${state.cut.toFixed(decimals)}`;
    const task = audit.task.replace(/[^\w.-]+/g, "-");
    const address = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    const link = element("a", { href: address, download: `audit-${task}-${cutName}.csv` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    say("The list was downloaded.");
  });
  byId("copy").addEventListener("click", async () => {
    say((await copyText(csv())) ? "The list was copied." : "The browser did not allow copying; download the list instead.");
  });
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Some browsers refuse it to pages that were opened from a file.
    const area = element("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}
