// What is done with many rows at once: first the numbers, then the act, then one undo.

import { once, post } from "./api.js";
import { askForm, askText, askYes } from "./ask.js";
import { button, fill, make, number, rowsOf } from "./dom.js";

const DONE = { clear: "Clear", assign: "Assign", confirm: "Confirm" };

// Sentences about what an act would do; the studio has counted.
export function sentences(action, told, name) {
  const said = [];
  const { changes, given, lacking, chosen, errors } = told;
  if (action === "clear") {
    said.push(`${rowsOf(changes)} of ${number(chosen)} lose their answers.`);
    if (lacking) said.push(`${rowsOf(lacking)} have none; labels in the file stay.`);
  } else if (action === "assign") {
    said.push(`${rowsOf(changes)} of ${number(chosen)} change their person.`);
  } else if (action === "confirm") {
    said.push(`${rowsOf(changes)} are marked as looked at again and right.`);
  } else {
    said.push(`${rowsOf(changes)} of ${number(chosen)} get a label.`);
    if (action === "accept") {
      const few = errors < 10 ? errors.toFixed(1) : number(Math.round(errors));
      said.push(`By the model's own probabilities, about ${few} of them will be wrong.`);
      const parts = told.classes.map((one) => `${name(one.label)}: ${number(one.count)}`);
      if (parts.length) said.push(`${parts.join(", ")}.`);
    }
    if (given) said.push(`${rowsOf(given)} have another label.`);
    if (lacking) said.push(`${rowsOf(lacking)} have no prediction.`);
  }
  return said;
}

// Ask, show the numbers, act. `chosen` gives { rows, data } or { where }.
export async function bulk(studio, chosen, act) {
  const name = (label) => studio.name(label);
  const body = { ...chosen, ...act };
  const told = await post("bulk_look", body);
  const told2 = told.given ? await post("bulk_look", { ...body, replace: true }) : null;
  if (!told.changes && !told2?.changes) {
    const [, ...rest] = sentences(act.action, told, name);
    studio.say(["Nothing to do.", ...rest].join(" "));
    return 0;
  }
  const title = {
    label: `Label as ${name(act.label)}?`,
    accept: "Accept the predictions?",
    clear: "Clear these answers?",
    confirm: "Are these labels right?",
    assign: act.person ? `Assign to ${act.person}?` : "Let anybody answer?",
  }[act.action];
  const agreed = await askYes(title, sentences(act.action, told, name), {
    done: `${DONE[act.action] ?? "Label"} ${rowsOf(told.changes)}`,
    option: told2 ? `Replace the other labels too: ${rowsOf(told2.changes)} in all` : "",
  });
  return agreed && carryOut(studio, { ...body, replace: agreed.option });
}

// Do it, and say what has changed.
async function carryOut(studio, body) {
  const { changed } = await once("bulk", body);
  studio.say(`${rowsOf(changed)} changed. Undo takes all of it back.`);
  await studio.advance();
  return changed;
}

async function askPerson() {
  const label = "Name as the person writes it; nobody else is asked. Empty: anybody";
  const short = { most: 64, required: false, done: "Next" };
  const person = await askText("Assign rows to", label, "", short);
  return person === null ? null : { action: "assign", person };
}

// A class to choose, and what to do with the rows that `chosen` returns.
export class BulkActs {
  constructor(studio, chosen, { done = () => {}, cancel = null } = {}) {
    this.studio = studio;
    this.chosen = chosen;
    this.done = done;
    this.select = make("select", { "aria-label": "Class" });
    const act = (words, said) => button(words, () => this.run(said()));
    this.element = make(
      "div",
      { class: "bulk-acts" },
      this.select,
      act("Label", () => ({ action: "label", label: Number(this.select.value) })),
      act("Accept predictions", () => ({ action: "accept" })),
      act("Clear", () => ({ action: "clear" })),
      act("Assign …", askPerson),
      cancel ? button("Cancel", cancel) : null,
    );
    this.fill();
  }

  fill() {
    fill(this.select, this.studio.state.classes.map((c) => [c.label, c.name]));
  }

  // The class that the model takes a row for comes first.
  suggest(line) {
    if (line?.guess) this.select.value = line.guess.label;
  }

  run(act) {
    return this.studio.attempt(async () => {
      const wanted = await act;
      if (wanted && (await bulk(this.studio, this.chosen(), wanted))) await this.done();
    });
  }
}

// "Accept what the model is sure of": from which probability on, with the numbers.
export async function acceptSure(studio, where) {
  const share = { type: "number", min: 0, max: 100, step: "any", required: true };
  const field = make("input", { id: "threshold", ...share });
  field.value = 95;
  const told = make("div", { role: "status", class: "small" });
  const body = () => {
    const { show, ...rest } = where; // those with a label keep it
    const low = String(Number(field.value) / 100);
    const among = ["all", "labelled", undefined].includes(show) ? "unlabelled" : show;
    return { action: "accept", where: { ...rest, show: among, low } };
  };
  let asked = 0;
  const count = async () => {
    const mine = ++asked;
    try {
      const found = await post("bulk_look", body());
      if (mine !== asked) return;
      const words = sentences("accept", found, (label) => studio.name(label));
      told.replaceChildren(...words.map((one) => make("p", {}, one)));
    } catch (error) {
      if (mine === asked) told.replaceChildren(make("p", {}, error.message));
    }
  };
  field.addEventListener("input", count);
  count();
  const agreed = await askForm(
    "Accept what the model is sure of",
    [
      make("label", { for: "threshold", class: "small soft" }, "Probability of at least (%)"),
      field,
      told,
    ],
    "Accept",
  );
  return agreed && carryOut(studio, body());
}
