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

export const by = (id) => document.getElementById(id);
// The class of a key: 1 to 9 and 0 in order.
export const classKey = (classes, key) =>
  /^[0-9]$/.test(key) ? classes[(Number(key) + 9) % 10] : undefined;
export const colour = (label) => `c${label % 10}`;
export const percent = (share) => `${Math.round(100 * share)}%`;
// As it was said: 12.5, and 33.3333 of a third.
export const plain = (value) => String(Number(value.toPrecision(6)));
export const number = (value) => value.toLocaleString("en");
