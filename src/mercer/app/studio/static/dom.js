// Makes elements from plain values. Text is always set as text, never as markup.

export function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

export const button = (words, onclick, options = {}) =>
  make("button", { type: "button", onclick, ...options }, words);
// Opens a row; `from` is the view to go back to.
export const rowLink = (studio, { row, id }, from) =>
  button(`Row ${id}`, () => studio.open(row, from), { class: "link" });
export const swatch = () => make("span", { class: "swatch", "aria-hidden": "true" });
// Fills a select; what was chosen stays chosen where it is still there.
export function fill(select, pairs, value = select.value) {
  const options = pairs.map(([key, words, look]) => make("option", { value: key, class: look ?? "" }, words));
  select.replaceChildren(...options);
  select.value = pairs.some(([key]) => String(key) === String(value)) ? value : (pairs[0]?.[0] ?? "");
  return select;
}
// What is wrong with a field, said below it.
export function fieldError(options = {}) {
  const box = make("p", { class: "field-error small", role: "alert", hidden: true, ...options });
  const say = (words) => {
    box.textContent = words;
    box.hidden = !words;
  };
  return { box, say };
}
// Words that are hidden where there are none.
export function put(id, words) {
  by(id).textContent = words || "";
  by(id).hidden = !words;
}
// A picture; the pixels of a tiny one are shown as squares.
const TINY = 128;
export function image(options) {
  const look = ({ target }) =>
    target.classList.toggle("tiny", Math.max(target.naturalWidth, target.naturalHeight) < TINY);
  return make("img", { ...options, onload: look });
}
export const by = (id) => document.getElementById(id);
// The key of each class: its own, or in order one of these, which do nothing else.
const KEYS = "1234567890qeruiocdhjkvxy";
export function keysOf(classes) {
  const taken = new Set(classes.map((one) => one.key).filter(Boolean));
  return classes.map((one, k) => one.key || (taken.has(KEYS[k]) ? "" : (KEYS[k] ?? "")));
}
export function classKey(classes, key) {
  return classes[keysOf(classes).indexOf(key.toLowerCase())];
}
const chosen = new Map(); // colours of classes that have one of their own
export function setColours(classes) {
  chosen.clear();
  for (const one of classes) if (one.colour != null) chosen.set(one.label, one.colour);
}
export const colourNumber = (label) => chosen.get(label) ?? label % 10;
export const colour = (label) => `c${colourNumber(label)}`;
export const percent = (share) => `${Math.round(100 * share)}%`;
// As it was said: 12.5, and 33.3333 of a third.
export const plain = (value) => String(Number(value.toPrecision(6)));
export const number = (value) => value.toLocaleString("en");
export const rowsOf = (n) => (n === 1 ? "1 row" : `${number(n)} rows`);
