// Why a row is asked about: the labelled rows that pull it, and the words they share.

import { get, picture } from "./api.js";
import { colour, image, make, number, percent, rowLink, swatch } from "./dom.js";

const DIFFERENCES = 4; // columns named; the others are counted
const TEXT = 160;
// Longer texts have the words that matter marked without being asked.
const LONG = 400;

export async function explain(studio, shown) {
  const [first, second] = shown.prediction;
  const title = () => make("h2", {}, "Why this one?");
  const note = (words) => [title(), make("p", { class: "soft small" }, words)];
  if (shown.purpose === "check") {
    return note(
      "It was drawn at random. Such answers tell how good the model is, so what the " +
        "model says about it is not shown before you answer.",
    );
  }
  if (!first || !second) {
    return note(
      "It is typical of many rows that nobody has labelled yet. " + studio.words(),
    );
  }
  const lead =
    `The model is at ${percent(first.probability)} for ${studio.name(first.label)} and ` +
    `${percent(second.probability)} for ${studio.name(second.label)}. ` +
    "These labelled rows say most about it:";
  const found = await get(`/api/why/${shown.row}?data=${studio.state.data}`);
  if (studio.question.shown === shown) mark(document.getElementById("item"), found.words);
  const lines = await Promise.all(found.pulls.map((pull) => line(studio, shown, pull)));
  return [title(), make("p", { class: "small" }, lead), make("ul", {}, ...lines)];
}

async function line(studio, shown, pull) {
  const seen = shown.image
    ? image({ alt: "", src: await picture(pull.row, studio.state.data) })
    : null;
  return make(
    "li",
    { class: colour(pull.label) },
    swatch(),
    seen,
    make(
      "div",
      {},
      rowLink(studio, pull),
      " ",
      make("b", {}, studio.name(pull.label)),
      ...pull.cells.filter((cell) => shown.texts.includes(cell.name)).map(snippet),
      difference(shown, pull),
    ),
  );
}

function snippet({ value }) {
  const cut = value.length > TEXT ? `${value.slice(0, TEXT)}…` : value;
  return make("p", { class: "soft" }, cut);
}

// In which other columns the two rows differ.
function difference(shown, pull) {
  const here = new Map(shown.cells.map((cell) => [cell.name, cell.value]));
  const others = pull.cells.filter((cell) => !shown.texts.includes(cell.name));
  if (!others.length) return null;
  const unequal = others.filter((cell) => here.get(cell.name) !== cell.value);
  if (!unequal.length) return make("p", { class: "soft" }, "Equal in all other columns.");
  const parts = unequal
    .slice(0, DIFFERENCES)
    .map((cell) => `${cell.name}: ${cell.value || "empty"}, here ${here.get(cell.name) || "empty"}`);
  const more = unequal.length - parts.length;
  if (more > 0) parts.push(`${number(more)} more`);
  return make("p", { class: "soft" }, `Differs in ${parts.join("; ")}.`);
}

// Mark the words that matter in a long text, unless the row is to be judged blindly.
export async function markLong(studio, shown) {
  if (!shown || shown.purpose === "check" || !studio.state.trained) return;
  const texts = shown.cells.filter((cell) => shown.texts.includes(cell.name));
  if (!texts.some((cell) => cell.length > LONG)) return;
  const { words } = await get(`/api/why/${shown.row}?data=${studio.state.data}`);
  if (studio.question.shown === shown) mark(document.getElementById("item"), words);
}

export function mark(box, words) {
  if (!words.length || box.querySelector("mark")) return;
  const some = new RegExp(`(?<![\\p{L}])(${words.join("|")})(?![\\p{L}])`, "giu");
  const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walk.nextNode()) if (!walk.currentNode.parentElement.closest("dt, button")) nodes.push(walk.currentNode);
  for (const node of nodes) {
    const parts = node.data.split(some);
    if (parts.length < 2) continue;
    node.replaceWith(...parts.map((part, k) => (k % 2 ? make("mark", {}, part) : part)));
  }
}
