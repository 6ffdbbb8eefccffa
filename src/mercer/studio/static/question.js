// The item, the classes, and what a person can do with them.

import { get, once, picture, post } from "./api.js";
import { by, colour, make, percent } from "./dom.js";

const REASONS = {
  cold: "typical of many rows",
  model: "its answer tells the model most",
  check: "drawn at random, to check the model",
  random: "drawn at random",
  second: "somebody else has answered it, too",
  again: "taken back",
  picked: "chosen by you",
};

export class Question {
  constructor(studio) {
    this.studio = studio;
    this.shown = null;
    this.busy = false;
    by("skip").addEventListener("click", () => this.skip());
    by("undo").addEventListener("click", () => this.undo());
    by("why").addEventListener("click", () => this.toggleWhy());
    by("new-class").addEventListener("submit", (event) => {
      event.preventDefault();
      this.addClass(by("new-name").value);
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  async load() {
    const { question } = await post("next", {});
    await this.show(question);
  }

  async open(row) {
    await this.show(await get(`/api/item/${row}?data=${this.studio.state.data}`));
  }

  async show(question) {
    this.shown = question;
    by("reasons").hidden = true;
    by("item").replaceChildren(await draw(question, this.studio.state.data));
    by("item").scrollTop = 0;
    by("reason").textContent = question
      ? `Row ${question.id} · ${REASONS[question.purpose] || ""}`
      : "";
    this.drawClasses();
    this.studio.moved(question);
  }

  drawClasses() {
    const shares = new Map();
    for (const p of this.visible()) shares.set(p.label, p.probability);
    const box = by("classes");
    const focused = document.activeElement?.dataset?.label;
    box.replaceChildren(
      ...this.studio.state.classes.map((one, k) => {
        const share = shares.get(one.label);
        const bar = make("span", { class: "share", "aria-hidden": "true" });
        if (share !== undefined) bar.style.width = `${100 * share}%`;
        const chosen = this.shown?.label === one.label;
        return make(
          "button",
          {
            type: "button",
            class: `class ${colour(one.label)}${chosen ? " chosen" : ""}`,
            "data-label": one.label,
            disabled: this.shown === null,
            title: "Double-click to rename",
            onclick: () => this.answer(one.label),
            oncontextmenu: (event) => this.rename(event, one),
          },
          make("span", { class: "swatch", "aria-hidden": "true" }),
          make("span", { class: "name" }, one.name),
          share === undefined
            ? null
            : make("span", { class: "percent" }, percent(share)),
          k < 9 ? make("kbd", { "aria-hidden": "true" }, String(k + 1)) : null,
          bar,
        );
      }),
    );
    if (focused !== undefined) {
      box.querySelector(`[data-label="${focused}"]`)?.focus();
    }
  }

  // What the model thinks would sway the answers that its accuracy is judged by.
  visible() {
    return this.shown && this.shown.purpose !== "check" ? this.shown.prediction : [];
  }

  // The model has learned something: show what it says now about the same item.
  async update() {
    const shown = this.shown;
    if (shown === null || this.busy) return;
    const now = await get(`/api/item/${shown.row}?data=${this.studio.state.data}`);
    if (this.shown !== shown) return;
    shown.prediction = now.prediction;
    this.drawClasses();
  }

  answer(label) {
    return this.act("answer", { row: this.shown.row, label });
  }

  skip() {
    return this.act("skip", { row: this.shown.row });
  }

  undo() {
    return this.act("undo", {});
  }

  async act(name, said) {
    if (this.busy || (name !== "undo" && this.shown === null)) return;
    this.busy = true;
    try {
      const { question } = await once(name, { data: this.studio.state.data, ...said });
      this.studio.say("");
      await this.show(question);
      this.studio.refresh();
    } catch (error) {
      this.studio.say(error.message);
    } finally {
      this.busy = false;
    }
  }

  async addClass(name) {
    if (!name.trim()) return;
    try {
      await once("class", { name });
      by("new-name").value = "";
      this.studio.say("");
      await this.studio.refresh();
    } catch (error) {
      this.studio.say(error.message);
    }
  }

  async rename(event, one) {
    event.preventDefault();
    const name = prompt(`New name of the class “${one.name}”`, one.name);
    if (!name) return;
    try {
      await once("rename", { label: one.label, name });
      await this.studio.refresh();
    } catch (error) {
      this.studio.say(error.message);
    }
  }

  async toggleWhy() {
    const box = by("reasons");
    if (!box.hidden || this.shown === null) {
      box.hidden = true;
      return;
    }
    box.replaceChildren(...(await this.explain()));
    box.hidden = false;
  }

  async explain() {
    const state = this.studio.state;
    const name = (label) => state.classes.find((c) => c.label === label)?.name ?? "?";
    const [first, second] = this.shown.prediction;
    if (this.shown.purpose === "check") {
      const words =
        "It was drawn at random. Such answers tell how good the model is, so what " +
        "the model says about it is not shown before you answer.";
      return [make("p", { class: "soft small" }, words)];
    }
    if (!first || !second) {
      const words = "Nothing can be predicted before two classes have an answer.";
      return [make("p", { class: "soft small" }, words)];
    }
    const lead =
      `The model is at ${percent(first.probability)} for ${name(first.label)} and ` +
      `${percent(second.probability)} for ${name(second.label)}. ` +
      "These labelled rows say most about it:";
    const pulls = await get(`/api/why/${this.shown.row}?data=${state.data}`);
    const lines = await Promise.all(
      pulls.map(async (pull) =>
        make(
          "li",
          {},
          make("span", { class: `swatch ${colour(pull.label)}` }),
          this.shown.image
            ? make("img", { alt: "", src: await picture(pull.row, state.data) })
            : null,
          make("span", {}, `${name(pull.label)}: ${pull.text}`),
        ),
      ),
    );
    return [make("p", { class: "small" }, lead), make("ul", {}, ...lines)];
  }

  key(event) {
    const tag = event.target.tagName;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (tag === "INPUT" || tag === "SELECT" || tag === "TEXTAREA") return;
    if (this.studio.view !== "label" || document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    if (/^[1-9]$/.test(key)) {
      const one = this.studio.state.classes[Number(key) - 1];
      if (one && this.shown) this.answer(one.label);
    } else if (key === "s") this.skip();
    else if (key === "z") this.undo();
    else if (key === "w") this.toggleWhy();
    else if (key === "n") by("new-name").focus();
    else return;
    event.preventDefault();
  }
}

export async function draw(question, data) {
  if (question === null) {
    return make("p", { class: "done soft" }, "Every row has an answer. Thank you.");
  }
  const parts = [];
  if (question.image) {
    const src = await picture(question.row, data);
    parts.push(make("img", { alt: `Picture of row ${question.id}`, src }));
  }
  const cells = question.cells.filter((cell) => cell.name !== "file");
  const longest = Math.max(0, ...cells.map((cell) => cell.value.length));
  if (cells.length === 1 || (cells.length && longest > 200)) {
    cells.sort((a, b) => b.value.length - a.value.length);
    parts.push(make("div", { class: "text" }, cells.shift().value));
  }
  const list = make("dl");
  for (const cell of cells) {
    list.append(make("dt", {}, cell.name), make("dd", {}, cell.value || "–"));
  }
  for (const block of question.vectors) {
    const words = `${block.length} numbers`;
    list.append(make("dt", {}, block.name), make("dd", {}, words));
  }
  return make("div", {}, ...parts, list);
}
