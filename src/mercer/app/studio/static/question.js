// The item, the classes, and what a person can do with them.

import { Ahead } from "./ahead.js";
import { get, once, post } from "./api.js";
import { askColumns } from "./ask.js";
import { editClasses } from "./classes.js";
import { button, by, classKey, colour, keysOf, make, percent, swatch } from "./dom.js";
import { ClassFinder } from "./finder.js";
import { draw, drawPair, playOrPause } from "./item.js";
import { drawSources } from "./sources.js";
import { explain, markLong } from "./why.js";

const REASONS = {
  cold: "typical of many rows",
  model: "its answer tells the model most",
  check: "drawn at random, to check the model",
  random: "drawn at random",
  second: "somebody else has answered it, too",
  again: "taken back",
  picked: "chosen by you",
};
const SPOKEN = 500; // characters of a new item that a screen reader is given
const KEYS = { s: "skip", z: "undo", w: "toggleWhy", p: "togglePairs" };

export class Question {
  constructor(studio) {
    this.studio = studio;
    this.shown = null;
    this.pair = null;
    this.pairing = false;
    this.finder = new ClassFinder(this);
    this.ahead = new Ahead(studio);
    this.sending = Promise.resolve(); // the end of the answers on their way
    this.busy = false;
    this.from = null; // the view in which the row was opened
    this.waiting = Promise.resolve(); // the end of what keys have asked for
    this.hidden = new Set(JSON.parse(sessionStorage.getItem("mercer-hidden") || "[]"));
    by("skip").addEventListener("click", () => this.queue(() => this.skip()));
    by("undo").addEventListener("click", () => this.queue(() => this.undo()));
    by("why").addEventListener("click", () => this.toggleWhy());
    by("pairs").addEventListener("click", () => this.togglePairs());
    by("columns").addEventListener("click", () => this.chooseColumns());
    by("edit-classes").addEventListener("click", () => this.editClasses());
    by("similar").addEventListener("click", () => this.similar());
    by("new-class").addEventListener("submit", (event) => {
      event.preventDefault();
      this.addClass(by("new-name").value);
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  async load() {
    this.prepare();
    if (this.pairing) return this.showPair((await post("next_pair", {})).pair);
    return this.show((await post("next", {})).question);
  }

  async open(row, from = null) {
    this.setPairing(false);
    this.from = from;
    await this.show(await get(`/api/item/${row}?data=${this.studio.state.data}`));
  }

  async show(question) {
    const name = question ? `Row ${question.id}` : "";
    const why = question ? ` · ${REASONS[question.purpose] || ""}` : "";
    const drawn = draw(question, this.studio.state.data, this.hidden);
    this.pair = null;
    await this.paint(question, drawn, "Which class is this?", name, why);
    drawSources(this.studio, question);
    markLong(this.studio, question).catch(() => {});
  }

  async showPair(pair) {
    const name = pair ? `Rows ${pair.first.id} and ${pair.second.id}` : "";
    const drawn = drawPair(pair, this.studio.state.data, this.hidden);
    this.pair = pair;
    await this.paint(pair ? pair.first : null, drawn, "Are these the same?", name);
    drawSources(this.studio, null);
  }

  async paint(shown, drawn, title, name, why = "") {
    this.shown = shown;
    this.closeWhy();
    by("question-title").textContent = title;
    by("item").replaceChildren(await drawn);
    by("item").scrollTop = 0;
    by("reason").textContent = name + why;
    const words = by("item").innerText.slice(0, SPOKEN);
    by("announced").textContent = name ? `${name}. ${words}` : words;
    this.drawClasses();
    this.studio.notes.show(shown);
    this.studio.moved(shown);
  }

  // Buttons are made once and then changed where they stand, so that none is replaced
  // under the pointer.
  drawClasses() {
    const box = by("classes");
    by("new-class").hidden = this.pairing;
    const made = this.pairing
      ? "pairs"
      : JSON.stringify(
          this.studio.state.classes.map(({ label, name, key, colour, about }) => [
            label, name, key, colour, about,
          ]),
        );
    if (this.made !== made) {
      const focused = document.activeElement?.dataset?.label;
      box.replaceChildren(...(this.pairing ? this.pairButtons() : this.classButtons()));
      this.finder.draw(!this.pairing);
      this.made = made;
      if (focused !== undefined) box.querySelector(`[data-label="${focused}"]`)?.focus();
    }
    if (this.pairing) for (const button of box.children) button.disabled = !this.pair;
    else this.fillClasses(box);
  }

  fillClasses(box) {
    const shares = new Map(this.visible().map((p) => [p.label, p.probability]));
    this.studio.state.classes.forEach((one, k) => {
      const button = box.children[k];
      const share = shares.get(one.label);
      const chosen = this.shown?.label === one.label;
      button.disabled = this.shown === null;
      button.classList.toggle("chosen", chosen);
      if (chosen) button.setAttribute("aria-pressed", "true");
      else button.removeAttribute("aria-pressed");
      button.querySelector(".percent").textContent = share >= 0.005 ? percent(share) : "";
      button.querySelector(".share").style.width = `${100 * (share ?? 0)}%`;
    });
  }

  pairButtons() {
    return [
      ["Same", true],
      ["Different", false],
    ].map(([word, same], k) => {
      const one = button("", () => this.queue(() => this.answerPair(same)), { class: "class" });
      one.append(make("span", { class: "name" }, word), make("kbd", { "aria-hidden": "true" }, k + 1));
      return one;
    });
  }

  classButtons() {
    const keys = keysOf(this.studio.state.classes);
    return this.studio.state.classes.map((one, k) =>
      make(
        "button",
        {
          type: "button",
          class: `class ${colour(one.label)}`,
          "data-label": one.label,
          title: one.about ? `${one.name}: ${one.about}` : one.name,
          onclick: () => this.queue(() => this.answer(one.label)),
        },
        swatch(),
        make(
          "span",
          { class: "name" },
          one.name,
          one.about ? make("span", { class: "about" }, one.about) : null,
        ),
        make(
          "span",
          { class: "right" },
          keys[k] ? make("kbd", { "aria-hidden": "true" }, keys[k].toUpperCase()) : null,
          make("span", { class: "percent" }),
        ),
        make("span", { class: "share", "aria-hidden": "true" }),
      ),
    );
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
    this.prepare();
  }

  answer(label) {
    if (this.shown === null) return undefined;
    return this.act("answer", { row: this.shown.row, label });
  }

  answerPair(same) {
    if (this.pair === null) return undefined;
    const { first, second } = this.pair;
    return this.act("pair", { row: first.row, other: second.row, same });
  }

  skip() {
    if (this.shown === null) return undefined;
    return this.act("skip", { row: this.shown.row });
  }

  undo() {
    return this.act("undo", {});
  }

  // What keys and clicks ask for is done in order: what comes while an answer is on its
  // way waits for the next item.
  queue(act) {
    this.waiting = this.waiting.then(() => this.studio.attempt(act));
    return this.waiting;
  }

  async act(name, said) {
    if (this.busy || (name !== "undo" && this.shown === null)) return;
    const goesOn = !this.from && (name === "answer" || name === "skip");
    const then = goesOn ? this.ahead.take() : undefined;
    if (then) return this.actAtOnce(name, said, then);
    await this.sending;
    this.busy = true;
    try {
      const answer = await once(name, { data: this.studio.state.data, ...said });
      this.studio.say("");
      this.studio.history.restart();
      if (name === "pair") await this.showPair(answer.pair);
      else if (this.pairing) await this.load();
      else await this.show(answer.question);
      this.studio.refreshSoon();
      this.prepare();
      const { from } = this;
      this.from = null;
      if (from && name !== "undo") await this.studio.go(from);
    } catch (error) {
      this.studio.say(error.message);
    } finally {
      this.busy = false;
    }
  }

  // The next question is shown while the answer is on its way; if it cannot be kept, its
  // row comes back with the reason.
  async actAtOnce(name, said, then) {
    const answered = this.shown;
    const { data } = this.studio.state;
    const kept = this.sending.then(() => once(name, { data, ...said, then: then.row }));
    this.sending = kept.then(
      ({ question }) => {
        if (this.shown === then && question?.row !== then.row) return this.show(question);
        this.prepare();
        return this.studio.refreshSoon();
      },
      async (error) => {
        this.ahead.forget();
        await this.show(answered);
        this.studio.say(error.message);
      },
    );
    this.studio.history.restart();
    await this.show(then);
  }

  // Fetch what comes next once the page has nothing else to do. While an answer is on its
  // way, the studio does not know which row is shown, and would send it again.
  prepare() {
    clearTimeout(this.preparing);
    this.preparing = setTimeout(async () => {
      const { sending } = this;
      await sending;
      if (sending === this.sending) this.ahead.fetch().catch(() => {});
    }, 30);
  }

  async addClass(name) {
    if (!name.trim()) return;
    await this.studio.attempt(async () => {
      await once("class", { name });
      by("new-name").value = "";
      by("new-name").blur();
      this.studio.say("");
      await this.studio.refresh();
    });
  }

  // Rows like this one, in the table, to be labelled as a group.
  async similar() {
    if (this.shown) await this.studio.like(this.shown);
  }

  async editClasses() {
    const { studio } = this;
    if (await editClasses(studio.state.classes)) await studio.attempt(() => studio.refresh());
  }

  async chooseColumns() {
    if (this.shown === null) return;
    const names = this.shown.cells.map((cell) => cell.name);
    const hidden = await askColumns(names, this.hidden);
    if (hidden === null) return;
    this.hidden = hidden;
    sessionStorage.setItem("mercer-hidden", JSON.stringify([...hidden]));
    await (this.pairing ? this.showPair(this.pair) : this.show(this.shown));
  }

  setPairing(on) {
    this.pairing = on;
    by("pairs").setAttribute("aria-pressed", String(on));
  }

  async togglePairs() {
    this.setPairing(!this.pairing);
    await this.studio.attempt(() => this.load());
  }

  closeWhy() {
    by("reasons").hidden = true;
    by("why").setAttribute("aria-expanded", "false");
  }

  async toggleWhy() {
    const box = by("reasons");
    if (!box.hidden || this.shown === null) return this.closeWhy();
    box.replaceChildren(...(await explain(this.studio, this.shown)));
    box.hidden = false;
    box.scrollIntoView({ block: "nearest" });
    return by("why").setAttribute("aria-expanded", "true");
  }

  key(event) {
    const tag = event.target.tagName;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (tag === "INPUT" || tag === "SELECT" || tag === "TEXTAREA") {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (this.studio.view !== "label" || document.querySelector("dialog[open]")) return;
    if (this.readsOn(event)) return event.preventDefault();
    const act = this.actOf(event.key.toLowerCase());
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) this.queue(act); // a key that is held down counts once
  }

  // The keys that scroll a page scroll the item, where there is more of it.
  readsOn({ key, shiftKey, target }) {
    const step = { " ": shiftKey ? -1 : 1, PageDown: 1, PageUp: -1 }[key];
    const box = by("item");
    if (!step || target.closest("button") || box.scrollHeight <= box.clientHeight) return false;
    box.scrollBy(0, 0.8 * step * box.clientHeight);
    return true;
  }

  actOf(key) {
    if (this.pairing && /^[0-9]$/.test(key)) return () => this.press(Number(key) - 1);
    if (!this.pairing && classKey(this.studio.state.classes, key)) return () => this.press(key);
    if (KEYS[key]) return () => this[KEYS[key]]();
    if (key === "b") return () => this.studio.history.go(1);
    if (key === "f") return () => this.studio.history.go(-1);
    if (key === "/" && !by("find-class").hidden) return () => by("find-class").focus();
    if (key === "a") return playOrPause;
    if (key === "m") return () => this.similar();
    if (key === "t") return () => void this.studio.notes.write();
    if (key === "g") return () => this.studio.notes.flag();
    if (key === "n") return () => by("new-name").focus();
    if (key === "l") return () => by("lasso").click();
    return null;
  }

  press(key) {
    if (this.pairing) return key === 0 || key === 1 ? this.answerPair(key === 0) : undefined;
    return this.answer(classKey(this.studio.state.classes, key).label);
  }
}
