// One row, large: its picture, its longest text, and its other cells.

import { picture } from "./api.js";
import { make } from "./dom.js";

const LONG = 200;

export async function draw(question, data, hidden) {
  if (question === null) {
    return make("p", { class: "done soft" }, "Every row has an answer. Thank you.");
  }
  const parts = [];
  if (question.image) {
    const src = await picture(question.row, data);
    parts.push(make("img", { alt: `Picture of row ${question.id}`, src }));
  }
  const named = question.cells.length > 1 || question.image;
  const cells = question.cells.filter((cell) => !hidden.has(cell.name));
  const longest = Math.max(0, ...cells.map((cell) => cell.value.length));
  if (!named || longest > LONG) {
    cells.sort((a, b) => b.value.length - a.value.length);
    const [first] = cells.splice(0, 1);
    if (first) parts.push(make("div", { class: "text" }, first.value));
  }
  const list = make("dl");
  for (const cell of cells) {
    list.append(make("dt", {}, cell.name), make("dd", {}, cell.value || "–"));
  }
  for (const block of question.vectors) {
    list.append(make("dt", {}, block.name), make("dd", {}, `${block.length} numbers`));
  }
  if (list.children.length) parts.push(list);
  return make("div", { class: "one" }, ...parts);
}
