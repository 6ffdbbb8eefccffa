// The studio: its state, and what is shown around the question.

import { get, listen, person } from "./api.js";
import { by, colour, make, number } from "./dom.js";
import { Question } from "./question.js";

class Studio {
  constructor() {
    this.state = { classes: [], data: "" };
    this.view = "label";
    this.question = new Question(this);
    by("person").addEventListener("click", () => this.askName());
  }

  async start() {
    this.drawPerson();
    try {
      await this.refresh();
      await this.question.load();
    } catch (error) {
      this.say(error.message);
      if (error.status === 401) return;
    }
    listen((heard) => {
      if (heard) this.refresh();
      else this.say("The studio does not answer. Is it still running?");
    });
  }

  async refresh() {
    const before = this.state;
    this.state = await get("/api/state");
    by("source").textContent = this.state.source.split(/[\\/]/).pop();
    document.title = `${by("source").textContent} · Mercer studio`;
    by("n-labelled").textContent = number(this.state.labelled);
    by("n-rows").textContent = `of ${number(this.state.rows)} rows labelled`;
    by("stage").textContent = this.words();
    if (this.state.error) this.say(this.state.error);
    by("shares").replaceChildren(
      ...this.state.classes.map((one) =>
        make(
          "li",
          {},
          make("span", { class: `swatch ${colour(one.label)}`, "aria-hidden": "true" }),
          make("span", { class: "name" }, one.name),
          make("span", { class: "count" }, number(one.count)),
        ),
      ),
    );
    if (JSON.stringify(before.classes) !== JSON.stringify(this.state.classes)) {
      this.question.drawClasses();
    }
    if (before.version !== this.state.version) await this.question.update();
  }

  words() {
    const { stage, trained, model_labels: labels } = this.state;
    if (stage) return `Working: ${stage} …`;
    if (!trained) return "The model starts once two classes have an answer.";
    return `The model has learned from ${number(labels)} labels.`;
  }

  moved() {}

  say(message) {
    by("banner").textContent = message;
    by("banner").hidden = !message;
  }

  drawPerson() {
    by("person").textContent = person.name;
    by("person").setAttribute("aria-label", `You are ${person.name}. Change your name`);
  }

  async askName() {
    const name = prompt("Your name, shown with your answers", person.name);
    if (!name?.trim()) return;
    person.name = name.trim().slice(0, 64);
    this.drawPerson();
    await this.question.load();
  }
}

const studio = new Studio();
studio.start();
