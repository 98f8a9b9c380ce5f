// What the page knows, and how it writes numbers and colours. Text reaches the document only as text nodes and
// attribute values, never as markup: names come from files and may hold anything.

const audit = JSON.parse(document.getElementById("audit").textContent);
const demos = audit.demonstrations;
const makers = new Map(audit.demonstrators.map((maker) => [maker.id, maker]));
const proposed = audit.verdict.cut; // null where the audit proposes no cut
const state = {
  cut: proposed,
  moved: false, // whether the reader has chosen a cut
  sort: "score",
  descending: false,
  query: "",
  show: "all",
  maker: null, // id of the only demonstrator to list
};

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

// -- numbers -------------------------------------------------------------------------------------------------

const scores = demos.map((demo) => demo.score);
const lowest = scores.reduce((a, b) => Math.min(a, b));
const highest = scores.reduce((a, b) => Math.max(a, b));
const spread = highest - lowest || Math.max(1, Math.abs(highest));
// The slider and the histogram go a little beyond the scores, so that all can be kept and all dropped.
const axis = { low: lowest - 0.04 * spread, high: highest + 0.04 * spread };
if (proposed !== null) {
  axis.low = Math.min(axis.low, proposed);
  axis.high = Math.max(axis.high, proposed);
}
const decimals = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(spread))));

function scoreText(value, digits = decimals) {
  const text = value.toFixed(digits);
  return Number(text) < 0 ? `−${text.slice(1)}` : text.replace("-", "");
}

const countText = (value) => value.toLocaleString("en");

// Never 100% or 0% of what is not quite all or none.
function percentText(value) {
  const text = (100 * value).toFixed((value > 0 && value < 0.1) || (value > 0.9 && value < 1) ? 1 : 0);
  if (value > 0 && text === "0.0") return "<0.1%";
  if (value < 1 && text === "100.0") return ">99.9%";
  return `${text}%`;
}
const returnText = (value) => scoreText(value, Math.abs(value) < 100 ? 1 : 0);
const plural = (count, noun) => `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;

function probabilityText(value) {
  if (value > 0 && value < 0.005) return "<0.01";
  if (value < 1 && value >= 0.995) return ">0.99";
  return value.toFixed(2);
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

const kept = (demo) => state.cut === null || demo.score >= state.cut;

// The audit's own verdict until the reader moves the cut: it may be unsure, a cut is not.
const verdictOf = (demo) => (state.moved ? (kept(demo) ? "keep" : "drop") : demo.verdict);

const makerName = (demo) => (demo.demonstrator === null ? "" : makers.get(demo.demonstrator).name);

// -- colours -------------------------------------------------------------------------------------------------

const bins = demos.flatMap((demo) => demo.strip).sort((a, b) => a - b);
const quantile = (q) => bins[Math.min(bins.length - 1, Math.floor(q * bins.length))];
const binLow = quantile(0.005);
const binHigh = quantile(0.995);
const SHADES = 255;
let shades = [];

// 2 * SHADES + 1 colours from the lowest score to the highest, read from the style sheet for its light and dark.
// Paper is white in the dark too.
function readRamp(name = "--ramp") {
  const stops = getComputedStyle(document.documentElement).getPropertyValue(name).trim().split(/\s+/);
  const colours = stops.map((stop) => [1, 3, 5].map((at) => parseInt(stop.slice(at, at + 2), 16)));
  shades = Array.from({ length: 2 * SHADES + 1 }, (_, i) => {
    const place = (i / (2 * SHADES)) * (colours.length - 1);
    const left = Math.min(colours.length - 2, Math.floor(place));
    return colours[left].map((c, k) => Math.round(c + (place - left) * (colours[left + 1][k] - c)));
  });
}

// The middle of the ramp is the cut. Without one nothing is bad, and the ramp's upper half serves all scores.
function shade(score) {
  const middle = state.cut === null ? binLow : state.cut;
  const reach = Math.max(binHigh - middle, middle - binLow) || 1;
  const place = Math.max(state.cut === null ? 0 : -1, Math.min(1, (score - middle) / reach));
  // Somewhat steeper near the cut, where the eye needs it.
  return shades[SHADES + Math.round(SHADES * Math.sign(place) * Math.abs(place) ** 0.8)];
}

const shadeText = (score) => `rgb(${shade(score).join(" ")})`;

// A pixel a bin; the style sheet stretches it. A thousand of these cost next to nothing.
function paintStrip(canvas, values) {
  canvas.width = values.length;
  canvas.height = 1;
  const context = canvas.getContext("2d");
  const image = context.createImageData(values.length, 1);
  values.forEach((value, i) => image.data.set([...shade(value), 255], 4 * i));
  context.putImageData(image, 0, 0);
}
