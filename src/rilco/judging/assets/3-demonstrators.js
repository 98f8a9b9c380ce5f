// The table of demonstrators: a tick for each of their demonstrations, on the histogram's axis.

const tickStrips = [];

function setUpDemonstrators(choose) {
  if (!audit.demonstrators.length) return;
  const body = document.querySelector("#demonstrators tbody");
  const ranked = [...audit.demonstrators].sort((a, b) => b.score - a.score);
  for (const maker of ranked) {
    const name = element("button", { type: "button", "aria-pressed": "false", title: maker.name }, maker.name);
    name.addEventListener("click", () => choose(state.maker === maker.id ? null : maker.id));
    body.append(element("tr", { "data-maker": maker.id },
      element("th", { scope: "row" }, name),
      element("td", {}, countText(maker.demonstrations)),
      element("td", {}, countText(maker.pairs)),
      element("td", {}, scoreText(maker.score)),
      element("td", {}, probabilityText(maker.expert_probability)),
      element("td", {}, pill(maker.verdict))));
    const canvas = element("canvas");
    body.append(element("tr", { class: "ticks", "aria-hidden": "true" }, element("td", { colspan: 6 }, canvas)));
    tickStrips.push({ canvas, demos: demos.filter((demo) => demo.demonstrator === maker.id) });
  }
  byId("demonstrators").hidden = false;
}

const pill = (verdict) => element("span", { class: `pill ${verdict}` }, verdict);

function markDemonstrator() {
  for (const row of document.querySelectorAll("#demonstrators [data-maker]")) {
    row.querySelector("button").setAttribute("aria-pressed", String(Number(row.dataset.maker) === state.maker));
  }
}

function paintTicks() {
  const style = getComputedStyle(document.documentElement);
  const colour = { keep: style.getPropertyValue("--keep"), drop: style.getPropertyValue("--drop") };
  const line = style.getPropertyValue("--line");
  const ink = style.getPropertyValue("--ink");
  const density = window.devicePixelRatio || 1;
  for (const { canvas, demos: own } of tickStrips) {
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = width * density;
    canvas.height = height * density;
    const context = canvas.getContext("2d");
    context.scale(density, density);
    const x = (score) => MARGIN + fraction(score) * (width - 2 * MARGIN);
    context.fillStyle = line;
    context.fillRect(MARGIN, height / 2, width - 2 * MARGIN, 1);
    context.globalAlpha = own.length > 60 ? 0.45 : 0.75;
    for (const demo of own) {
      context.fillStyle = colour[kept(demo) ? "keep" : "drop"];
      context.fillRect(x(demo.score) - 1, 2, 2, height - 3);
    }
    context.globalAlpha = 1;
    context.fillStyle = ink;
    if (state.cut !== null) context.fillRect(x(state.cut) - 0.75, 0, 1.5, height);
  }
}
