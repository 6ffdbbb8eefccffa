// The studio: its state, its views, and what is shown around the question.

import { get, listen, once, person } from "./api.js";
import { askText } from "./ask.js";
import { BulkActs } from "./bulk.js";
import { drawAccuracy } from "./curve.js";
import { by, colour, make, number, percent, plain, put, setColours, swatch } from "./dom.js";
import { History } from "./history.js";
import { showKeys } from "./keys.js";
import { PointMap } from "./map.js";
import { Notes } from "./notes.js";
import { Question } from "./question.js";
import { askSizes } from "./sizes.js";
import { TableView } from "./table.js";
import { ExportView, ReviewView } from "./views.js";

class Studio {
  constructor() {
    this.state = { classes: [], data: "", map: 0 };
    this.view = "label";
    this.notice = ""; // stands until somebody has read and closed it
    this.question = new Question(this);
    this.map = new PointMap(this);
    this.history = new History(this);
    this.notes = new Notes(this);
    this.views = {
      table: new TableView(this),
      review: new ReviewView(this),
      export: new ExportView(this),
    };
    by("person").addEventListener("click", () => this.askName());
    by("keys").addEventListener("click", showKeys);
    by("unsay").addEventListener("click", () => {
      if (by("said").textContent === this.notice) {
        localStorage.setItem("mercer-read", this.notice);
        this.notice = "";
      }
      this.say("");
    });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input:not([type=checkbox]), select, textarea");
      if (event.key === "?" && !typing && !by("dialog").open) showKeys();
    });
    by("sizes").addEventListener("click", () => this.changeSizes());
    by("measure").addEventListener("click", () => {
      const { question } = this;
      question.queue(() => question.act("measure", { n: 30 }));
    });
    for (const button of document.querySelectorAll("[data-view]")) {
      button.addEventListener("click", () => this.go(button.dataset.view));
    }
  }

  async start() {
    this.drawPerson();
    await this.attempt(() => this.advance());
    listen((heard) => {
      if (heard) this.refreshSoon();
      else if (this.state.data) this.lose();
    });
  }

  name(label) {
    return this.state.classes.find((one) => one.label === label)?.name ?? "?";
  }

  async go(view) {
    if (view !== this.view) scrollTo(0, 0);
    this.view = view;
    for (const button of document.querySelectorAll("[data-view]")) {
      const here = button.dataset.view === view;
      if (here) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
      by(`view-${button.dataset.view}`).hidden = !here;
    }
    await this.attempt(() => this.views[view]?.load());
    if (view === "label") this.map.draw();
  }

  async like(question) {
    this.views.table.alike(question);
    await this.go("table");
  }

  // After the answer, the page goes back to where the row was opened. Keys that come
  // before the row is there wait for it.
  async open(row, from = null) {
    const opened = this.question.queue(() => this.question.open(row, from));
    await this.go("label");
    await opened;
    by("main").focus();
  }

  // The studio was stopped, or started again with another link.
  async lose() {
    try {
      await get("/api/state");
    } catch (error) {
      this.say(
        error.status === 401
          ? "The studio was started again. Open the link that it printed."
          : "The studio does not answer. Is it still running?",
      );
      this.lost = true;
    }
  }

  // Events may come in bursts; one look is enough for all that came meanwhile.
  refreshSoon() {
    if (this.pending) return;
    this.pending = setTimeout(() => {
      this.pending = 0;
      this.attempt(async () => {
        const { data } = this.state;
        await this.refresh();
        if (this.lost) this.say("");
        if (data !== this.state.data) await this.advance(); // another table now
      });
    }, 150);
  }

  // What goes wrong is said to the person.
  async attempt(act) {
    try {
      return await act();
    } catch (error) {
      return void this.say(error.message);
    }
  }

  // The next question comes before the map, which may be large.
  async advance() {
    const before = await this.look();
    await this.question.load();
    await this.redraw(before);
  }

  async refresh() {
    await this.redraw(await this.look());
  }

  // What is new in words and numbers; returns the state before.
  async look() {
    const before = this.state;
    this.state = await get("/api/state");
    const { state } = this;
    const { style } = document.documentElement;
    style.setProperty("--lines", state.images ? 99 : state.lines);
    style.setProperty("--names", `${state.names}%`);
    by("source").textContent = state.source.split(/[\\/]/).pop();
    document.title = `${by("source").textContent} · Mercer studio`;
    by("n-labelled").textContent = number(state.labelled);
    by("n-rows").textContent = `of ${number(state.rows)} rows labelled`;
    by("stage").textContent = this.words();
    put("n-doubts", state.doubts && number(state.doubts));
    if (state.error) this.say(state.error);
    else if (before.notices?.join() !== state.notices.join()) {
      const said = state.notices.join(" ");
      this.notice = said === localStorage.getItem("mercer-read") ? "" : said;
      this.say("");
    }
    setColours(state.classes);
    this.drawShares();
    this.notes.draw();
    if (JSON.stringify(before.classes) !== JSON.stringify(state.classes)) {
      this.question.drawClasses();
    }
    return before;
  }

  async redraw(before) {
    const { state } = this;
    if (before.map !== state.map) await this.map.load();
    else if (before.version !== state.version || coloursOf(before) !== coloursOf(state)) await this.map.recolour();
    if (before.version !== state.version) {
      await Promise.all([this.question.update(), drawAccuracy()]);
    }
    if (before.seq !== state.seq) await this.history.load();
  }

  drawShares() {
    by("shares").replaceChildren(
      ...this.state.classes.map((one) =>
        make(
          "li",
          { class: colour(one.label) },
          swatch(),
          make("span", { class: "name" }, one.name),
          this.sizeOf(one),
          make("span", { class: "count" }, number(one.count)),
        ),
      ),
    );
    by("sizes-line").hidden = this.state.classes.length === 0;
    by("sizes-note").textContent = this.state.classes.some((one) => one.size != null)
      ? "The model uses the class sizes that were given."
      : "The model estimates how large the classes are.";
  }

  // What is known of a class's size; nothing while sizes are estimated.
  sizeOf(one) {
    if (one.size == null) return null;
    const words = one.said == null ? `rest ${percent(one.size)}` : `you said ${plain(one.said)}%`;
    return make("span", { class: "count" }, words);
  }

  async changeSizes() {
    const save = (sizes) => once("sizes", { sizes });
    if (await askSizes(this.state.classes, save)) this.refreshSoon();
  }

  words() {
    const { stage, trained, model_labels: labels } = this.state;
    if (stage) return `Working: ${stage} … You can answer already.`;
    if (!trained) return "The model starts once two classes have an answer.";
    return `The model has learned from ${number(labels)} labels.`;
  }

  // Where a row lies on the map tells what the model takes it for: not of a check.
  moved(question) {
    const blind = !question || question.purpose === "check";
    this.map.mark(blind ? null : question.row);
  }

  // The numbers come first, then the act; see bulk.js.
  async lassoed(rows) {
    const box = by("lassoed");
    box.hidden = rows.length === 0;
    if (!rows.length) return;
    const done = () => (box.hidden = true);
    const acts = new BulkActs(this, () => ({ rows, data: this.state.data }), { cancel: done, done });
    const words = `${number(rows.length)} rows are inside.`;
    box.replaceChildren(make("p", { class: "small" }, words), acts.element);
    box.querySelector("select").focus();
  }

  // Without a message, what is to be read stands there again.
  say(message) {
    by("said").textContent = message || this.notice;
    by("banner").hidden = !by("said").textContent;
    this.lost = message.startsWith("The studio does not answer");
  }

  drawPerson() {
    by("person").textContent = person.name;
    by("person").setAttribute("aria-label", `You are ${person.name}. Change your name`);
  }

  async askName() {
    const name = await askText("Your name", "Shown with your answers", person.name);
    if (!name) return;
    person.name = name.slice(0, 64);
    this.drawPerson();
    await this.question.load();
    await this.history.load();
  }
}

const coloursOf = (state) => JSON.stringify(state.classes.map((one) => one.colour));
const studio = new Studio();
studio.start();
// For measurements of frames per second.
globalThis.mercer = studio;
