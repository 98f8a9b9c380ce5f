// Families, demonstrators and judges: what demonstrations have in common, and who spoke.

const JUDGES = {
  families: ["Families", "Who lives together? Demonstrations whose pairs lie side by side form a family."],
  consensus: ["Consensus", "Who does what the others would do there? Actions are predicted from everybody else."],
  endings: ["Endings", "Who stops where the others stop?"],
  records: ["Records", "Whose actions fit what happened next?"],
  held: ["Held actions", "Who stops acting on the way?"],
  manner: ["Manner", "Who is a little odd in many things: long, roundabout, weak or wild, restless, unfinished?"],
  "ril-co": ["RIL-Co’s classifiers", "Who looks like what a learner in the simulator has outgrown?"],
  you: ["You", "What you said."],
  nobody: ["Nobody", "No judge saw enough, or they disagree."],
};
const judgeName = (judge) => JUDGES[judge]?.[0] ?? judge.charAt(0).toUpperCase() + judge.slice(1);
const pill = (word, text = word) => element("span", { class: `pill ${word}` }, text);
const updaters = []; // what to refresh after a click

function markButtons(kind, index, what) {
  const box = element("span", { class: "marks", role: "group", "aria-label": `Your word on ${what}` });
  for (const word of ["good", "bad"]) {
    const button = element("button", { type: "button", class: word, "data-mark": word, "aria-pressed": "false", title: `${what}: call it ${word}` }, word);
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      if (marks[kind].get(index) === word) marks[kind].delete(index);
      else marks[kind].set(index, word);
      decisionsChanged();
    });
    box.append(button);
  }
  box.refresh = () => {
    for (const button of box.children) button.setAttribute("aria-pressed", String(marks[kind].get(index) === button.dataset.mark));
  };
  box.refresh();
  return box;
}

// -- families ---------------------------------------------------------------------------------------------------

const FEW_CARDS = 4;

function setUpFamilies(open) {
  byId("families").hidden = families.length === 0;
  byId("cards").replaceChildren(...families.slice(0, FEW_CARDS).map((family) => familyCard(family, open)));
  const rest = families.slice(FEW_CARDS);
  const button = byId("more-families");
  button.hidden = rest.length === 0;
  button.textContent = `Show ${rest.length === 1 ? "one smaller family" : `${countText(rest.length)} smaller families`}, ` +
    `with ${percentText(pairsOf(rest.flatMap((family) => family.members)) / allPairs)} of the pairs`;
  button.addEventListener("click", () => {
    byId("cards").append(...rest.map((family) => familyCard(family, open)));
    button.hidden = true;
  });
}

function familyCard(family, open) {
  const share = pairsOf(family.members) / allPairs;
  const status = element("span");
  const tag = element("span", { class: "tag" }, "taken to be good");
  const why = element("p", { class: "quiet why" });
  const buttons = markButtons("family", family.index, family.name);
  const list = element("button", { type: "button", class: "link" }, "list");
  list.addEventListener("click", () => choose("family", state.family === family.index ? null : family.index));
  const refresh = () => {
    const count = { keep: 0, drop: 0, unsure: 0 };
    for (const demo of family.members) count[decisionOf(demo)] += 1;
    const words = Object.keys(count).filter((word) => count[word]).sort((a, b) => count[b] - count[a]);
    status.replaceChildren(...words.map((word) => element("span", { class: `pill ${word}` },
      words.length > 1 ? `${word} ${countText(count[word])}` : word)));
    why.textContent = commonReason(family.members);
    tag.hidden = marked();
    buttons.refresh();
    list.setAttribute("aria-pressed", String(state.family === family.index));
  };
  updaters.push(refresh);
  refresh();
  const title = family.name.charAt(0).toUpperCase() + family.name.slice(1);
  const alone = family.members.length === 1;
  return element("article", { class: "card family", "data-family": family.index, "aria-label": title },
    element("div", { class: "heading" }, element("h3", {}, title), status),
    element("p", { class: "size" }, `${plural(family.members.length, "demonstration")} · ${percentText(share)} of the pairs`,
      family.majority ? tag : null),
    element("div", { class: "members" },
      member(demos[family.typical], alone ? "the only one" : "typical", open),
      alone || family.oddest === family.typical ? null : member(demos[family.oddest], "the oddest", open)),
    why,
    element("div", { class: "actions" }, buttons, list));
}

function commonReason(members) {
  const count = new Map();
  for (const demo of members) {
    const { reason } = now[demo.index];
    count.set(reason, (count.get(reason) ?? 0) + demo.pairs);
  }
  return [...count].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

function member(demo, word, open) {
  const film = page.films[demo.index];
  const signals = film ? [0] : [0, 1, 3].filter((s) => s < SIGNALS.length);
  const still = film ? element("img", { src: film.images[Math.min(2, film.images.length - 1)], alt: "", loading: "lazy" }) : null;
  const look = element("span", { class: "look" }, still, ...signals.map((s) => sparkline(demo, s, 150, 30)));
  const button = element("button", { type: "button", class: "member", title: demo.name }, look,
    element("span", { class: "caption" }, element("b", {}, word), ` ${demo.name}`));
  button.addEventListener("click", () => open(demo));
  return button;
}

// A signal against the range of its family.
function sparkline(demo, s, width, height) {
  const x = (p) => (p / (POINTS - 1)) * width;
  const y = (value) => height - 1 - (value / 255) * (height - 2);
  const path = (values) => Array.from(values, (value, p) => `${p ? "L" : "M"}${x(p).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const [low, , high] = bandOf(demo, s);
  const band = path(low) + [...high.keys()].reverse().map((p) => `L${x(p).toFixed(1)} ${y(high[p]).toFixed(1)}`).join("") + "Z";
  return drawing("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `${SIGNALS[s]} over time` },
    drawing("path", { class: "band", d: band }), drawing("path", { class: "line", d: path(signalOf(demo, s)) }));
}

// -- demonstrators ----------------------------------------------------------------------------------------------

function setUpDemonstrators() {
  if (makers.length < 2 || makers.length > 500) return;
  const body = document.querySelector("#demonstrators tbody");
  for (const maker of makers) {
    const name = element("button", { type: "button", "aria-pressed": "false" }, maker.name);
    name.addEventListener("click", () => choose("maker", state.maker === maker.index ? null : maker.index));
    const bar = element("span", { class: "share" });
    const buttons = markButtons("maker", maker.index, maker.name);
    body.append(element("tr", { "data-maker": maker.index },
      element("th", { scope: "row" }, name),
      element("td", { class: "number" }, countText(maker.members.length)),
      element("td", {}, bar),
      element("td", {}, buttons)));
    const refresh = () => {
      const sums = { keep: 0, unsure: 0, drop: 0 };
      for (const demo of maker.members) sums[decisionOf(demo)] += demo.pairs;
      const total = pairsOf(maker.members);
      bar.replaceChildren(...Object.entries(sums).filter(([, pairs]) => pairs).map(([word, pairs]) => {
        const part = element("i", { class: word, title: `${word}: ${percentText(pairs / total)} of the pairs` });
        part.style.width = `${(100 * pairs) / total}%`;
        return part;
      }), element("span", { class: "unseen" }, Object.entries(sums).map(([word, pairs]) => `${word} ${percentText(pairs / total)}`).join(", ")));
      buttons.refresh();
      name.setAttribute("aria-pressed", String(state.maker === maker.index));
    };
    updaters.push(refresh);
    refresh();
  }
  byId("demonstrators").hidden = false;
}

// -- judges -----------------------------------------------------------------------------------------------------

function setUpJudges() {
  const spoke = (judge) => demos.filter((demo) => demo.judge === judge).length;
  const rows = page.opinions.map(({ judge, standing, why }) => element("li", { class: standing > 0 ? "" : "silent" },
    element("b", {}, judgeName(judge)),
    element("span", { class: "tag" }, standing === 0 ? "abstains" : spoke(judge) ? `decided ${countText(spoke(judge))}` : "heard"),
    element("p", {}, JUDGES[judge]?.[1] ?? ""),
    element("p", { class: "quiet" }, why)));
  byId("judges").replaceChildren(...rows);
  byId("judges-card").hidden = rows.length === 0;
}

// -- what the reader vouched for ----------------------------------------------------------------------------------

// Demonstrators all of whose demonstrations are among these, and the other demonstrations one by one.
function namesOf(members) {
  const among = new Set(members);
  const whole = makers.filter((maker) => maker.members.every((demo) => among.has(demo)));
  const rest = members.filter((demo) => !whole.includes(makers[demo.maker]));
  return [...whole, ...rest].map(({ name }) => name);
}

function showMarks() {
  byId("yours").hidden = !marked();
  if (!marked()) return;
  const names = { good: [], bad: [] };
  const given = { good: [], bad: [] };
  for (const [index, word] of marks.family) {
    names[word].push(families[index].name);
    // One good member vouches for its family; a bad one speaks for itself alone.
    given[word].push(...(word === "good" ? [demos[families[index].typical].name] : namesOf(families[index].members)));
  }
  for (const [index, word] of marks.maker) [names[word], given[word]].forEach((list) => list.push(makerNames[index]));
  for (const [index, word] of marks.demo) [names[word], given[word]].forEach((list) => list.push(demos[index].name));
  const listed = (list) => (list.length > 4 ? `${list.slice(0, 3).join(", ")} and ${list.length - 3} more` : list.join(", "));
  const parts = ["good", "bad"].filter((word) => names[word].length).map((word) => `${listed(names[word])} ${word}`);
  byId("yours-text").textContent = `You called ${parts.join(", and ")}. ${livesTogether ? "Everything on this page is judged anew." : "There is but one family, so little else changes here."}`;
  const quote = (text) => plain(text) !== text
    ? `$'${plain(text.replaceAll("\\", "\\\\").replaceAll("'", "\\'"))}'` : (/^[\w./:#-]+$/.test(text) && !text.includes("#") ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const options = [
    ...page.source.files.flatMap((file) => ["--demos", quote(file)]),
    ...(page.source.noise_rate === null ? [] : ["--noise-rate", page.source.noise_rate, "--seed", page.source.seed]),
    ...(page.source.obs_keys.length ? ["--obs-keys", quote(page.source.obs_keys.join(","))] : []),
    ...(page.source.pieces ? ["--pieces", page.source.pieces] : []),
    ...["good", "bad"].flatMap((word) => given[word].flatMap((name) => [`--${word}`, quote(name)])),
  ];
  byId("command").textContent = `rilco audit ${options.join(" ")}`;
}

function setUpMarks(say) {
  byId("undo").addEventListener("click", () => {
    for (const some of Object.values(marks)) some.clear();
    decisionsChanged();
  });
  byId("copy-command").addEventListener("click", async () => {
    say((await copyText(byId("command").textContent)) ? "The command was copied." : "The browser did not allow copying.");
  });
}
