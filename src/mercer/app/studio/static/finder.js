// Finds a class among many by its name: type, then Enter.

import { by } from "./dom.js";

const MANY = 10;

export class ClassFinder {
  constructor(question) {
    this.question = question;
    this.field = by("find-class");
    this.field.addEventListener("input", () => this.filter());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        this.clear();
        this.field.blur();
      }
      if (event.key !== "Enter") return;
      event.preventDefault();
      const [first] = this.found();
      if (!this.field.value.trim() || !first || event.repeat) return;
      this.clear(); // the field keeps the focus for the next row
      question.queue(() => question.answer(first.label));
    });
  }

  draw(on) {
    this.field.hidden = !on || this.question.studio.state.classes.length < MANY;
    this.clear();
  }

  clear() {
    this.field.value = "";
    this.filter();
  }

  // Names that begin with the words come before names that hold them.
  found() {
    const words = this.field.value.trim().toLowerCase();
    const rank = (one) => one.name.toLowerCase().indexOf(words);
    const some = this.question.studio.state.classes.filter((one) => rank(one) >= 0);
    return some.sort((a, b) => (rank(a) > 0) - (rank(b) > 0));
  }

  filter() {
    if (this.question.pairing) return;
    const found = this.found();
    const shown = new Set(found.map((one) => String(one.label)));
    const first = this.field.value.trim() && found.length ? String(found[0].label) : null;
    for (const button of by("classes").children) {
      button.hidden = !shown.has(button.dataset.label);
      button.classList.toggle("first", button.dataset.label === first);
    }
  }
}
