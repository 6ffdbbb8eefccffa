// What belongs to the work besides answers: guidelines, a goal, notes and flags.

import { once } from "./api.js";
import { askText } from "./ask.js";
import { by, number, put, rowsOf } from "./dom.js";

export class Notes {
  constructor(studio) {
    this.studio = studio;
    by("edit-guide").addEventListener("click", () => this.editGuide());
    by("set-goal").addEventListener("click", () => this.setGoal());
    by("note").addEventListener("click", () => this.write());
    by("flag").addEventListener("click", () => this.flag());
  }

  act(name, said) {
    return this.studio.attempt(async () => {
      await once(name, { data: this.studio.state.data, ...said });
      await this.studio.refresh();
      return true;
    });
  }

  draw() {
    const { guide, goal, labelled, rows } = this.studio.state;
    put("guide", guide);
    const bar = by("goal");
    bar.max = goal || rows;
    bar.value = Math.min(labelled, bar.max);
    const left = Math.max(0, bar.max - labelled);
    const words = rowsOf(left);
    if (goal && !left) by("goal-note").textContent = `The goal of ${number(goal)} rows is reached.`;
    else by("goal-note").textContent = goal ? `${words} to the goal of ${number(goal)}` : `${words} to go`;
  }

  // Note and flag of the item on the page.
  show(question) {
    put("noted", question?.note && `Note: ${question.note}`);
    by("flag").setAttribute("aria-pressed", String(Boolean(question?.flagged)));
    by("flag").disabled = by("note").disabled = by("similar").disabled = !question;
  }

  async editGuide() {
    const { guide } = this.studio.state;
    const long = { rows: 8, most: 20_000 };
    const text = await askText("Guidelines", "Shown beside every item", guide, long);
    if (text !== null) await this.act("guide", { text });
  }

  async setGoal() {
    const { goal, rows } = this.studio.state;
    const said = await askText("Goal", `Rows to label, up to ${number(rows)}; 0 for none`, goal || "");
    if (said) await this.act("goal", { rows: Number(said) });
  }

  async write() {
    const { shown } = this.studio.question;
    if (!shown) return;
    const long = { rows: 8, most: 2000 };
    const text = await askText("Note", `On row ${shown.id}`, shown.note, long);
    if (text === null || !(await this.act("note", { row: shown.row, text }))) return;
    shown.note = text;
    this.show(this.studio.question.shown);
  }

  async flag() {
    const { shown } = this.studio.question;
    if (!shown) return;
    const on = !shown.flagged;
    if (!(await this.act("flag", { row: shown.row, on }))) return;
    shown.flagged = on;
    this.show(this.studio.question.shown);
  }
}
