// The histogram, the slider under it and the counts; and the decisions as a file.

const SLIDER = 1000;
const MARGIN = 10; // half of the slider's thumb: its middle and the histogram's axis then agree
const LEFT = 34; // room for the counts, which no bar may cover
const BARS = 40;
const plot = { width: 0, height: 0, line: null };

const fraction = (score) => (score - axis.low) / (axis.high - axis.low);
const across = (score) => LEFT + fraction(score) * (plot.width - LEFT - MARGIN);
const scoreAt = (place) => axis.low + place * (axis.high - axis.low);

function drawHistogram() {
  const box = byId("histogram");
  plot.width = box.clientWidth;
  plot.height = box.clientHeight;
  const top = 18;
  const weigh = byId("weight").value === "pairs" ? (demo) => demo.pairs : () => 1;
  const stacks = Array.from({ length: BARS }, () => ({ drop: 0, unsure: 0, keep: 0 }));
  for (const demo of demos) {
    stacks[Math.min(BARS - 1, Math.floor(fraction(demo.score) * BARS))][decisionOf(demo)] += weigh(demo);
  }
  const most = Math.max(...stacks.map(({ drop, unsure, keep }) => drop + unsure + keep));
  const up = (count) => plot.height - (count / most) * (plot.height - top);
  const levels = ticks(0, most, 3).values.filter((count) => count > 0 && Number.isInteger(count));
  const grid = levels.flatMap((count) => [
    drawing("line", { class: "grid", x1: LEFT, x2: plot.width - MARGIN, y1: up(count), y2: up(count) }),
    drawing("text", { x: LEFT - 6, y: up(count) + 4, "text-anchor": "end" }, countText(count)),
  ]);
  const wide = (plot.width - LEFT - MARGIN) / BARS;
  const bars = stacks.flatMap((stack, i) => {
    let base = 0;
    return ["drop", "unsure", "keep"].filter((word) => stack[word]).map((word) => {
      const from = base;
      base += stack[word];
      return drawing("rect", {
        class: word, x: LEFT + i * wide + 0.5, y: up(base), width: Math.max(1, wide - 1), height: up(from) - up(base), rx: 1,
      });
    });
  });
  plot.line = drawing("g", {},
    drawing("line", { class: "cutline", y1: 2, y2: plot.height + 10 }),
    drawing("text", { class: "drop", x: -7, y: 11, "text-anchor": "end" }, "drop"),
    drawing("text", { class: "keep", x: 7, y: 11 }, "keep"));
  const label = `Histogram of the scores of ${plural(demos.length, "demonstration")}, from ${scoreText(lowest)} to ${scoreText(highest)}`;
  box.replaceChildren(drawing("svg", { width: plot.width, height: plot.height, viewBox: `0 0 ${plot.width} ${plot.height}`, role: "img", "aria-label": label },
    ...grid, ...bars, plot.line));
  const marksAt = ticks(axis.low, axis.high, 6);
  byId("axis").replaceChildren(drawing("svg", { width: plot.width, height: 16, viewBox: `0 0 ${plot.width} 16` },
    ...marksAt.values.map((value) =>
      drawing("text", { x: across(value), y: 11, "text-anchor": "middle" }, scoreText(value, marksAt.digits)))));
  placeCut();
}

function placeCut() {
  const x = across(state.cut ?? axis.low);
  plot.line.setAttribute("transform", `translate(${x})`);
  plot.line.setAttribute("visibility", (state.cut === null || marked()) && !state.moved ? "hidden" : "visible");
  // A word that would leave the plot is left out: the counts below say the same.
  plot.line.querySelector(".drop").setAttribute("opacity", x < LEFT + 34 ? 0 : 1);
  plot.line.querySelector(".keep").setAttribute("opacity", x > plot.width - 40 ? 0 : 1);
}

function tally() {
  const sums = { keep: { demos: 0, pairs: 0 }, drop: { demos: 0, pairs: 0 }, unsure: { demos: 0, pairs: 0 } };
  for (const demo of demos) {
    sums[decisionOf(demo)].demos += 1;
    sums[decisionOf(demo)].pairs += demo.pairs;
  }
  return sums;
}

// Everything that counts: the head of the page, the table under the cut, and what is said aloud.
function showCounts() {
  const sums = tally();
  for (const [word, { demos: count, pairs }] of Object.entries(sums)) {
    byId(`${word}-demonstrations`).textContent = plural(count, "demo");
    byId(`${word}-pairs`).textContent = plural(pairs, "pair");
    byId(`${word}-share`).textContent = percentText(pairs / allPairs);
    byId(`head-${word}`).textContent = countText(count);
    byId(`head-${word}-share`).textContent = `${percentText(pairs / allPairs)} of the pairs`;
  }
  const changed = marked() || state.moved;
  byId("headline").textContent = changed
    ? `You keep ${countText(sums.keep.demos)} and drop ${countText(sums.drop.demos)} of ${plural(demos.length, "demonstration")}`
    : byId("headline").dataset.own;
  byId("sure-fact").hidden = changed;
  byId("own-words").hidden = marked();
  const cutText = marked() && !state.moved ? "" : state.cut === null ? (state.moved ? "none" : "") : scoreText(state.cut);
  byId("cut-value").textContent = cutText;
  const place = state.cut === null ? 0 : fraction(state.cut);
  const slider = byId("cut");
  slider.value = Math.round(SLIDER * place);
  slider.style.setProperty("--at", `${100 * place}%`);
  const spoken = `${countText(sums.keep.demos)} of ${plural(demos.length, "demonstration")} kept, ` +
    `${countText(sums.drop.demos)} dropped, ${countText(sums.unsure.demos)} unsure`;
  slider.setAttribute("aria-valuetext", `Cut ${cutText || "as the judges decided"}: ${spoken}`);
  byId("remark").textContent = state.moved ? "This cut is yours; it decides for all that you have not marked."
    : proposed === null || marked() ? "This was decided without one cut; move it to decide by the score alone."
    : sums.unsure.demos ? "What is grey is unsure, on either side." : "";
  byId("reset").disabled = !state.moved;
  showLabels();
  return spoken;
}

// Only where the demonstrations come with labels, which the audit has not seen.
function showLabels() {
  const share = (label) => {
    const some = demos.filter((demo) => demo.label === label);
    return some.length ? pairsOf(some.filter((demo) => decisionOf(demo) === "keep")) / pairsOf(some) : null;
  };
  const parts = [["good", share("good")], ["bad", share("bad")]].filter(([, value]) => value !== null)
    .map(([name, value]) => `${percentText(value)} of the ${name} pairs`);
  byId("labels").hidden = parts.length === 0;
  byId("labels").textContent = `By the known labels, which the audit has not seen, kept are ${parts.join(" and ")}.`;
}

function setUpCut(changed) {
  const slider = byId("cut");
  const histogram = byId("histogram");
  const move = (place) => {
    // At the left end every score is above the cut: that is no cut.
    state.cut = place <= 0 ? null : scoreAt(Math.min(1, place));
    state.moved = true;
    changed();
  };
  slider.addEventListener("input", () => move(slider.valueAsNumber / SLIDER));
  const drag = (event) => {
    const x = event.clientX - histogram.getBoundingClientRect().left;
    move((x - LEFT) / (plot.width - LEFT - MARGIN));
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

// -- the decisions as a file -----------------------------------------------------------------------------------

function csv() {
  const quote = (value) => `"${String(value).replaceAll('"', '""')}"`;
  const columns = ["index", "name", "decision", "demonstrator", "family", "pairs", "score", "judge", "reason"];
  const rows = demos.map((demo) => [
    demo.index, quote(demo.name), decisionOf(demo), quote(makerNames[demo.maker]), quote(familyName(demo)), demo.pairs,
    demo.score, now[demo.index].judge, quote(now[demo.index].reason),
  ]);
  return [columns, ...rows].map((row) => row.join(",")).join("\n") + "\n";
}

function setUpExport(say) {
  byId("download").addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    element("a", { href: address, download: "decisions.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    byId("next-step").hidden = false;
    say("The decisions were downloaded.");
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
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
