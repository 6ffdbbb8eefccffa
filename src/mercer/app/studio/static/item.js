// One row, large: its picture, its longest text, and its other cells.

import { get, picture, raw } from "./api.js";
import { askForm } from "./ask.js";
import { button, image, make, number } from "./dom.js";

// A long cell comes in part; the rest is a click away.
function text(question, cell, data, tag) {
  const box = make(tag, { class: tag === "div" ? "text" : "" }, cell.value || "–");
  if (cell.length <= cell.value.length) return box;
  const [some, all] = [cell.value.length, cell.length].map(number);
  const more = button("Show all", async () => {
    const asked = new URLSearchParams({ data, column: cell.name });
    box.replaceChildren((await get(`/api/cell/${question.row}?${asked}`)).value);
  });
  box.append(
    make("p", { class: "cut small soft" }, `The first ${some} of ${all} characters. `, more),
  );
  return box;
}

// The picture in full resolution; a click changes between window and pixels.
async function zoom(question, data) {
  const src = await picture(question.row, data, "full");
  const img = make("img", { alt: `Picture of row ${question.id}, whole`, src });
  const change = ({ target }) =>
    target.setAttribute("aria-pressed", String(img.classList.toggle("pixels")));
  const size = button("Full resolution", change, { "aria-pressed": "false" });
  const look = { class: "whole", tabindex: "0", role: "region", "aria-label": "Picture" };
  const whole = { wide: true, more: [size], cancels: false };
  await askForm(`Row ${question.id}`, [make("div", look, img)], "Close", whole);
}

// A recording; the file comes with the token, so it is fetched and then played.
async function player(question, column, data) {
  const asked = new URLSearchParams({ data, column });
  const sound = make("audio", { controls: true, "aria-label": `Recording: ${column}` });
  try {
    const body = await (await raw(`/api/sound/${question.row}?${asked}`)).blob();
    sound.src = URL.createObjectURL(body);
    sound.addEventListener("emptied", () => URL.revokeObjectURL(sound.src), { once: true });
  } catch (error) {
    return make("p", { class: "soft small" }, `${column}: ${error.message}`);
  }
  return sound;
}

export function playOrPause() {
  const sound = document.querySelector("#item audio");
  if (sound) sound.paused ? sound.play() : sound.pause();
}

export async function draw(question, data, hidden) {
  if (question === null) {
    return make("p", { class: "done soft" }, "Every row has an answer. Thank you.");
  }
  const parts = [];
  if (question.image) {
    const src = await picture(question.row, data);
    const img = image({ alt: `Picture of row ${question.id}`, src });
    const look = { class: "zoom", title: "Show the whole picture" };
    parts.push(button(img, () => zoom(question, data), look));
    await img.decode().catch(() => {});
  }
  const cells = question.cells.filter((cell) => !hidden.has(cell.name));
  const isText = (cell) => question.texts.includes(cell.name);
  const texts = question.texts.map((name) => cells.find((cell) => cell.name === name));
  const shown = texts.filter((cell) => cell?.value);
  for (const cell of shown) {
    const name = shown.length > 1 || question.cells.length > 1 ? cell.name : "";
    if (name) parts.push(make("h3", { class: "soft small" }, name));
    parts.push(text(question, cell, data, "div"));
  }
  for (const column of question.sounds) parts.push(await player(question, column, data));
  const list = make("dl");
  for (const cell of cells.filter((one) => !isText(one))) {
    list.append(make("dt", {}, cell.name), text(question, cell, data, "dd"));
  }
  for (const block of question.vectors) {
    list.append(make("dt", {}, block.name), make("dd", {}, `${block.length} numbers`));
  }
  if (list.children.length) parts.push(list);
  return make("div", { class: "one" }, ...parts);
}

// Two rows side by side: pictures and texts, then each column once with both values.
export async function drawPair(pair, data, hidden) {
  if (!pair) return make("p", { class: "done soft" }, "There is nothing left to compare.");
  const { first, second } = pair;
  const cells = first.cells.filter(
    ({ name }) => !first.texts.includes(name) && !first.sounds.includes(name) && !hidden.has(name),
  );
  const apart = new Set([...hidden, ...cells.map((cell) => cell.name)]);
  const others = new Map(second.cells.map((cell) => [cell.name, cell]));
  const lines = cells.map((cell) => {
    const other = others.get(cell.name);
    const look = cell.value === other.value ? "soft" : "";
    const values = [[first, cell], [second, other]].map(([row, one]) => text(row, one, data, "td"));
    return make("tr", { class: look }, make("th", { scope: "row" }, cell.name), ...values);
  });
  const heads = ["", first.id, second.id].map((id) => make("th", { scope: "col" }, id && `Row ${id}`));
  return make(
    "div",
    {},
    make("div", { class: "both" }, await draw(first, data, apart), await draw(second, data, apart)),
    lines.length ? make("table", { class: "pair" }, make("tr", {}, ...heads), ...lines) : "",
  );
}
