// The classes: names, keys, colours, descriptions, their order, merging and removing.

import { once } from "./api.js";
import { askForm } from "./ask.js";
import { button, fieldError, fill, keysOf, make } from "./dom.js";

const COLOURS = 10;

function field(label, element, look = "") {
  return make("label", { class: `small soft ${look}` }, label, element);
}

function input(value, more) {
  const one = make("input", { autocomplete: "off", ...more });
  one.value = value ?? "";
  return one;
}

// One class as a group of fields; `said` tells what has changed.
function group(one, place, classes) {
  const name = input(one.name, { maxlength: 200, required: true });
  const usual = keysOf(classes)[place].toUpperCase(); // what it has by its place
  const key = input(one.key, { maxlength: 1, class: "one-key", placeholder: usual });
  const colours = [...Array(COLOURS).keys()].map((k) => [k, `● colour ${k + 1}`, `c${k}`]);
  const colour = fill(make("select"), [["", "by itself"], ...colours], one.colour ?? "");
  const about = input(one.about, { maxlength: 200 });
  const others = classes.filter((other) => other !== one);
  const fate = fill(make("select"), [
    ["", "keep"],
    ["remove", "remove"],
    ...others.map((other) => [other.label, `merge into ${other.name}`]),
  ]);
  const error = fieldError();
  const box = make(
    "fieldset",
    { class: "one-class", "data-label": one.label },
    make("legend", { class: "small" }, one.name),
    field("Name", name),
    field("Key", key),
    field("Description", about, "whole-line"),
    field("Colour", colour),
    make(
      "div",
      { class: "move" },
      button("↑", () => move(-1), { "aria-label": `${one.name}: up` }),
      button("↓", () => move(1), { "aria-label": `${one.name}: down` }),
    ),
    field("What to do with it", fate, "whole-line"),
    error.box,
  );
  function move(step) {
    const other = step < 0 ? box.previousElementSibling : box.nextElementSibling;
    if (!other) return;
    if (step < 0) other.before(box);
    else other.after(box);
    box.querySelectorAll(".move button")[step < 0 ? 0 : 1].focus();
  }
  const acts = () => {
    const found = [];
    const at = [...box.parentElement.children].indexOf(box);
    const look = {
      key: key.value.trim(),
      colour: colour.value === "" ? null : Number(colour.value),
      about: about.value.trim(),
      place: at === place && one.place == null ? null : at,
    };
    const before = [one.key ?? "", one.colour ?? null, one.about ?? "", one.place ?? null];
    if (name.value.trim() !== one.name) found.push(["rename", { name: name.value }]);
    if (JSON.stringify(before) !== JSON.stringify([look.key, look.colour, look.about, look.place])) {
      found.push(["look", look]);
    }
    if (fate.value === "remove") found.push(["merge", {}]);
    else if (fate.value) found.push(["merge", { into: Number(fate.value) }]);
    return found.map(([act, said]) => [act, { label: one.label, ...said }]);
  };
  return { box, acts, complain: error.say };
}

// Resolves to whether something was saved. What is refused is said at its class.
export async function editClasses(classes) {
  const groups = classes.map((one, k) => group(one, k, classes));
  let saved = false;
  const send = async () => {
    // What removes classes comes last, so that everything else still finds them.
    const order = { rename: 0, look: 1, merge: 2 };
    const all = groups.flatMap((one) => one.acts().map((act) => [one, ...act]));
    all.sort(([, a], [, b]) => order[a] - order[b]);
    for (const [one, act, said] of all) {
      one.complain("");
      try {
        await once(act, said);
        saved = true;
      } catch (error) {
        one.complain(error.message);
        one.box.scrollIntoView({ block: "nearest" });
        one.box.querySelector("input").focus();
        return false;
      }
    }
    return true;
  };
  const list = make("div", { class: "class-list" }, ...groups.map(({ box }) => box));
  await askForm("Classes", [list], "Save", { wide: true, send });
  return saved;
}
