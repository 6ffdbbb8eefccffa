// How large the classes are: a dialog with one field per class, checked by the studio.

import { askForm } from "./ask.js";
import { fieldError, make, plain } from "./dom.js";

const number = (text) => Number(text.trim().replace(/\s*%$/, "").replace(",", ".")) || 0;

// What the fields say together, while they are being filled in.
function summary(lines) {
  const filled = lines.filter(({ field }) => field.value.trim());
  if (!filled.length) return "No size is given: the model estimates them.";
  const total = filled.reduce((sum, { field }) => sum + number(field.value), 0);
  // Classes without labels get no part of the rest: see `shares_of`.
  const others = lines.filter(({ field, count }) => count > 0 && !field.value.trim());
  const n = total < 100 ? others.length : 0;
  const rest = n
    ? ` The ${n === 1 ? "labelled class" : `${n} labelled classes`} without a size ` +
      `${n === 1 ? "gets" : "share"} the rest${n === 1 ? "" : " evenly"}.`
    : "";
  return `Together ${plain(total)}%.${rest}`;
}

function line(one, note) {
  const id = `size-${one.label}`;
  const field = make("input", {
    id,
    "data-label": one.label,
    inputmode: "decimal",
    autocomplete: "off",
    maxlength: 20,
    "aria-describedby": `${id}-error`,
  });
  field.value = one.said == null ? "" : plain(one.said);
  const error = fieldError({ id: `${id}-error` });
  const refuse = (words) => {
    error.say(words);
    if (words) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  };
  field.addEventListener("input", () => {
    refuse("");
    note();
  });
  const row = make(
    "div",
    { class: "size" },
    make("label", { for: id }, one.name),
    field,
    make("span", { class: "soft", "aria-hidden": "true" }, "%"),
    error.box,
  );
  return { field, refuse, row, count: one.count };
}

// Resolves to whether something was saved. What the studio refuses is said at the field,
// and the dialog stays open.
export function askSizes(classes, save) {
  const total = make("p", { class: "small soft", role: "status" });
  const wrong = fieldError();
  const note = () => {
    wrong.say("");
    total.textContent = summary(lines);
  };
  const lines = classes.map((one) => line(one, note));

  function complain(error) {
    const at = lines.find(({ field }) => Number(field.dataset.label) === error.label);
    (at ? at.refuse : wrong.say)(error.message);
    (at ?? lines[0]).field.focus();
    return false;
  }

  function send(how) {
    for (const { field, refuse } of how === "clear" ? lines : []) {
      field.value = "";
      refuse("");
    }
    const said = lines.map(({ field }) => [field.dataset.label, field.value]);
    return save(Object.fromEntries(said)).then(() => true, complain);
  }

  note();
  const words =
    "If you know how many of all rows belong to a class, enter it in percent. " +
    "The model then uses it. Leave empty what you do not know.";
  const fields = make("div", { class: "sizes-fields" }, ...lines.map(({ row }) => row));
  const content = [make("p", { class: "small soft" }, words), fields, total, wrong.box];
  const clear = make("button", { type: "submit", value: "clear" }, "Remove all");
  return askForm("How large are the classes?", content, "Save", { more: [clear], send });
}
