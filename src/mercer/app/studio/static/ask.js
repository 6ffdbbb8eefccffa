// Small questions in a dialog: a name, or a choice.

import { by, make } from "./dom.js";

// Shows a form in the dialog and resolves to whether it was agreed to. With `send`, which
// is given the value of the button, it stays open until that says that all was kept.
export function askForm(title, content, done, { more = [], wide, send, cancels = true } = {}) {
  const dialog = by("dialog");
  const close = { type: "submit", value: "", formnovalidate: true };
  const form = make(
    "form",
    { method: "dialog", novalidate: Boolean(send) },
    make("h2", { id: "dialog-title" }, title),
    ...content,
    make(
      "div",
      { class: "acts" },
      make("button", { type: "submit", value: "ok", class: "primary", autofocus: !cancels }, done),
      ...more,
      cancels ? make("button", close, "Cancel") : null,
    ),
  );
  form.addEventListener("submit", async (event) => {
    const { value } = event.submitter;
    if (!send || !value) return;
    event.preventDefault();
    if (await send(value)) dialog.close("ok");
  });
  dialog.replaceChildren(form);
  dialog.returnValue = "";
  dialog.classList.toggle("wide", Boolean(wide));
  return new Promise((resolve) => {
    dialog.onclose = () => resolve(dialog.returnValue === "ok");
    dialog.showModal();
  });
}

// What was written; null where nothing is to be changed.
export async function askText(title, label, value, options = {}) {
  const { rows = 0, most = 200, required = !rows, done = "Save" } = options;
  const more = { maxlength: most, autocomplete: "off", required, ...(rows ? { rows } : {}) };
  const input = make(rows ? "textarea" : "input", { id: "dialog-text", ...more });
  input.value = value;
  const said = await askForm(
    title,
    [make("label", { for: "dialog-text", class: "small soft" }, label), input],
    done,
  );
  return said ? input.value.trim() : null;
}

export async function askColumns(names, hidden) {
  const boxes = names.map((name, k) => {
    const box = make("input", { type: "checkbox", id: `column-${k}` });
    box.checked = !hidden.has(name);
    return box;
  });
  const lines = boxes.map((box, k) =>
    make("label", { class: "check", for: box.id }, box, names[k]),
  );
  const said = await askForm("Columns to show", [make("div", { class: "checks" }, ...lines)], "Show");
  return said ? new Set(names.filter((_, k) => !boxes[k].checked)) : null;
}

// Sentences and perhaps one option; resolves to null, or to { option }.
export async function askYes(title, words, { done = "Yes", option = "" } = {}) {
  const box = make("input", { type: "checkbox", id: "dialog-option" });
  const said = await askForm(
    title,
    [
      ...words.map((one) => make("p", { class: "small" }, one)),
      option ? make("label", { class: "check small", for: box.id }, box, option) : "",
    ],
    done,
  );
  return said ? { option: box.checked } : null;
}
