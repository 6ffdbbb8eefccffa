// The estimated accuracy over labels, with its interval, as a small drawing.

import { get } from "./api.js";
import { by, number } from "./dom.js";

const NS = "http://www.w3.org/2000/svg";
const [LEFT, RIGHT, TOP, BOTTOM] = [30, 312, 8, 88];

function shape(tag, options, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(options)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const whole = (share) => `${Math.round(100 * share)}`;

export async function drawAccuracy() {
  const said = await get("/api/accuracy");
  const svg = by("curve");
  svg.toggleAttribute("hidden", !said.now);
  by("measure").hidden = !said.trained;
  if (!said.now) {
    by("accuracy").textContent = "–";
    by("accuracy-note").textContent = "accuracy";
    by("gain").textContent =
      `One question in ${said.every} is drawn at random to estimate the accuracy.`;
    return;
  }
  by("accuracy").textContent = `${whole(said.now.mean)}%`;
  by("accuracy-note").textContent =
    `accuracy, ${whole(said.now.low)} to ${whole(said.now.high)}%`;
  const { mean, low, high } = said.gain;
  const points = (share) => (100 * share).toFixed(1);
  by("gain").textContent =
    `${said.right} of ${said.checks} random rows were predicted right before they were ` +
    `answered; the latest tell most. ${said.more} more labels would add about ${points(mean)} points ` +
    `(${points(low)} to ${points(high)}).`;
  paint(svg, said);
}

function paint(svg, said) {
  const first = said.curve[0].labels;
  const last = said.curve.at(-1).labels;
  const x = (n) => LEFT + ((n - first) / Math.max(last - first, 1)) * (RIGHT - LEFT);
  const y = (share) => BOTTOM - share * (BOTTOM - TOP);
  const band = [
    ...said.curve.map((p) => `${x(p.labels)},${y(p.high)}`),
    ...said.curve.map((p) => `${x(p.labels)},${y(p.low)}`).reverse(),
  ];
  const known = said.curve.filter((p) => p.labels <= said.labels);
  const coming = said.curve.filter((p) => p.labels >= said.labels);
  const line = (part) => part.map((p) => `${x(p.labels)},${y(p.mean)}`).join(" ");
  svg.replaceChildren(
    ...[0, 0.5, 1].flatMap((share) => [
      shape("line", { x1: LEFT, x2: RIGHT, y1: y(share), y2: y(share), class: "rule" }),
      shape("text", { x: LEFT - 5, y: y(share) + 4, "text-anchor": "end" }, whole(share)),
    ]),
    shape("polygon", { points: band.join(" "), class: "band" }),
    shape("polyline", { points: line(coming), class: "coming" }),
    shape("polyline", { points: line(known), class: "known" }),
    shape("circle", { cx: x(said.labels), cy: y(said.now.mean), r: 3.5, class: "dot" }),
    shape("text", { x: LEFT, y: BOTTOM + 16 }, number(first)),
    shape("text", { x: RIGHT, y: BOTTOM + 16, "text-anchor": "end" }, `${number(last)} labels`),
  );
}
