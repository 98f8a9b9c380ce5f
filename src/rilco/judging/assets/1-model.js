// What the page knows, and what it makes of the reader's clicks. Text reaches the document only as text nodes and
// attribute values, never as markup: names come from files and may hold anything.

const page = JSON.parse(document.getElementById("audit").textContent);
const WORDS = { k: "keep", d: "drop", u: "unsure" };
const demos = page.demos.name.map((name, index) => ({
  index,
  name,
  maker: page.demos.maker.of[index],
  pairs: page.demos.pairs[index],
  own: WORDS[page.demos.decision[index]],
  likely: page.demos.likely[index],
  score: page.demos.score[index],
  judge: page.demos.judge.texts[page.demos.judge.of[index]],
  reason: page.demos.reason.texts[page.demos.reason.of[index]],
  family: page.demos.family[index],
  return: page.demos.return?.[index] ?? null,
  label: page.demos.label ? { e: "good", n: "bad" }[page.demos.label[index]] : null,
}));
const makerNames = page.demos.maker.texts;
const families = page.families.map((family, index) => ({ ...family, index, members: [] }));
for (const demo of demos) families[demo.family]?.members.push(demo);
const makers = makerNames.map((name, index) => ({ name, index, members: [] }));
for (const demo of demos) makers[demo.maker].members.push(demo);

const proposed = page.cut; // null where no single score parts what is kept from what is dropped
const state = {
  cut: proposed,
  moved: false, // whether the reader has moved the cut
  sort: "score",
  descending: false,
  query: "",
  show: "all",
  maker: null, // the only demonstrator to list
  family: null, // the only family to list
};
const marks = { family: new Map(), maker: new Map(), demo: new Map() }; // index -> "good" or "bad"

const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function drawing(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

// A file's name may hold characters that turn the direction of writing: they are spelled out.
const plain = (text) => String(text).replace(/[\p{Cc}\p{Cf}]/gu, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);

// -- numbers -------------------------------------------------------------------------------------------------

const scores = demos.map((demo) => demo.score);
const lowest = scores.reduce((a, b) => Math.min(a, b));
const highest = scores.reduce((a, b) => Math.max(a, b));
const spread = highest - lowest || Math.max(1, Math.abs(highest));
// The slider and the histogram go a little beyond the scores, so that all can be kept and all dropped.
const axis = { low: lowest - 0.04 * spread, high: highest + 0.04 * spread };
const decimals = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(spread))));

function scoreText(value, digits = decimals) {
  const text = value.toFixed(digits);
  return Number(text) < 0 ? `−${text.slice(1)}` : text.replace("-", "");
}

const countText = (value) => value.toLocaleString("en");
const returnText = (value) => scoreText(value, Math.abs(value) < 100 ? 1 : 0);
const plural = (count, noun) => `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;
const pairsOf = (some) => some.reduce((sum, demo) => sum + demo.pairs, 0);
const allPairs = pairsOf(demos);

// Never 100% or 0% of what is not quite all or none.
function percentText(value) {
  const text = (100 * value).toFixed((value > 0 && value < 0.1) || (value > 0.9 && value < 1) ? 1 : 0);
  if (value > 0 && text === "0.0") return "<0.1%";
  if (value < 1 && text === "100.0") return ">99.9%";
  return `${text}%`;
}

// Round steps of 1, 2 or 5 times a power of ten.
function ticks(low, high, about) {
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k += 1) found.push(k * step);
  return { values: found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

// -- decisions -----------------------------------------------------------------------------------------------

const markOf = (demo) =>
  marks.demo.get(demo.index) ?? marks.maker.get(demo.maker) ?? marks.family.get(demo.family) ?? null;
const marked = () => marks.family.size + marks.maker.size + marks.demo.size > 0;
const [BAD_UP_TO, GOOD_FROM] = page.unsure.map((share) => 100 * share);
const livesTogether = page.opinions.find((opinion) => opinion.judge === "families" && opinion.standing > 0);
const others = page.opinions.filter((opinion) => opinion.good && opinion !== livesTogether);
let now = []; // of each demonstration: its decision, who made it and why

const most = (members) => {
  const count = { keep: 0, drop: 0, unsure: 0 };
  for (const demo of members) count[demo.own] += demo.pairs;
  return Object.keys(count).reduce((a, b) => (count[b] > count[a] ? b : a));
};
for (const family of families) family.own = most(family.members);

// Judge everything anew by what the reader vouched for. Without marks it is the audit's own verdict.
function rejudge() {
  const vouched = demos.map(markOf);
  const status = families.map((family) => familyStatus(family, vouched));
  // A judge who called bad what the reader calls good, or the other way about, is not heard for the rest.
  const heard = others.filter((opinion) => !vouched.some((mark, i) =>
    (mark === "good" && opinion.good[i] <= BAD_UP_TO) || (mark === "bad" && opinion.good[i] >= GOOD_FROM)));
  const turned = families.some((family, f) => status[f] === "good" && family.own !== "keep");
  const fallen = families.some((family, f) => status[f] === "bad" && family.majority);
  const next = fallen && !status.includes("good")
    ? families.findIndex((family, f) => status[f] === null) : -1; // the largest that was not called bad
  now = demos.map((demo, i) => {
    if (vouched[i]) return { decision: vouched[i] === "good" ? "keep" : "drop", judge: "you", reason: `You called it ${vouched[i]}.` };
    if (state.moved) return byCut(demo);
    return marked() ? afresh(demo, { status, heard, turned, next }) : { decision: demo.own, judge: demo.judge, reason: demo.reason };
  });
}

function familyStatus(family, vouched) {
  const good = family.members.some((demo) => vouched[demo.index] === "good");
  const bad = family.members.every((demo) => vouched[demo.index] === "bad") || marks.family.get(family.index) === "bad";
  return good && bad ? "both" : good ? "good" : bad ? "bad" : null;
}

function byCut(demo) {
  const kept = state.cut === null || demo.score >= state.cut;
  const where = state.cut === null ? "You keep everything." : `Its score is ${kept ? "at or above" : "below"} your cut.`;
  return { decision: kept ? "keep" : "drop", judge: "you", reason: where };
}

function afresh(demo, { status, heard, turned, next }) {
  const own = { decision: demo.own, judge: demo.judge, reason: demo.reason };
  const charge = heard.find((opinion) => opinion.good[demo.index] <= BAD_UP_TO);
  const charged = charge && { decision: "drop", judge: charge.judge, reason: charge.reason.texts[charge.reason.of[demo.index]] };
  const speaks = (decision, reason) => ({ decision, judge: "families", reason });
  const mine = demo.family < 0 ? null : status[demo.family];
  if (livesTogether && demo.family >= 0) {
    if (mine === "good") return charged || speaks("keep", "It lives with what you called good.");
    if (mine === "bad") return speaks("drop", "It lives with what you called bad.");
    if (mine === "both") return speaks("unsure", "You called some of its family good and some bad.");
    if (turned) return speaks("drop", "It lives apart from what you called good.");
    if (next >= 0) {
      if (demo.family !== next) return speaks("drop", "It lives apart from the largest family that you did not call bad.");
      return charged || speaks("keep", "Its family is the largest that you did not call bad.");
    }
    return own;
  }
  const judge = page.opinions.find((opinion) => opinion.judge === demo.judge && opinion.good);
  if (judge && !heard.includes(judge)) {
    return { decision: "unsure", judge: "nobody", reason: "The judge and you see it differently. Run the command above." };
  }
  return own;
}

const decisionOf = (demo) => now[demo.index].decision;
const makerName = (demo) => (makers.length > 1 ? makerNames[demo.maker] : "");
const familyName = (demo) => families[demo.family]?.name ?? "none";

// -- signals -------------------------------------------------------------------------------------------------

const POINTS = page.signals.points;
const SIGNALS = page.signals.names;
const bytes = Uint8Array.from(atob(page.signals.data), (c) => c.charCodeAt(0));
const signalOf = (demo, s) => {
  const at = (demo.index * SIGNALS.length + s) * POINTS;
  return bytes.subarray(at, at + POINTS);
};
const bands = new Map(); // "family signal" -> the lowest tenth, the middle and the highest tenth at each point
const SAMPLE = 200; // members that a band is drawn from

function bandOf(demo, s) {
  const key = `${demo.family} ${s}`;
  if (!bands.has(key)) {
    const all = families[demo.family]?.members ?? demos;
    const some = all.filter((_, i) => i % Math.ceil(all.length / SAMPLE) === 0).map((member) => signalOf(member, s));
    const at = (p, share) => some.map((values) => values[p]).sort((a, b) => a - b)[Math.floor(share * (some.length - 1))];
    const places = Array.from({ length: POINTS }, (_, p) => p);
    bands.set(key, [0.1, 0.5, 0.9].map((share) => places.map((p) => at(p, share))));
  }
  return bands.get(key);
}
