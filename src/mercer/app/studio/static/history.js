// The last answers: back to them and forward again, also after a reload.

import { get, person } from "./api.js";
import { by, colour, make, rowLink } from "./dom.js";

const LISTED = 6;

export class History {
  constructor(studio) {
    this.studio = studio;
    this.rows = [];
    this.at = -1; // in rows; -1 is the question itself
    by("back").addEventListener("click", () => this.studio.question.queue(() => this.go(1)));
    by("forward").addEventListener("click", () => this.studio.question.queue(() => this.go(-1)));
  }

  async load() {
    this.rows = await get(`/api/history?${new URLSearchParams({ who: person.name })}`);
    by("history").replaceChildren(
      ...this.rows.slice(0, LISTED).map((one) =>
        make(
          "li",
          { class: one.label === null ? "" : colour(one.label) },
          rowLink(this.studio, one),
          make(
            "span",
            { class: "name soft" },
            one.label === null ? "not known" : this.studio.name(one.label),
          ),
        ),
      ),
    );
    by("history-box").hidden = this.rows.length === 0;
    this.draw();
  }

  draw() {
    by("forward").disabled = this.at < 0;
    by("back").disabled = this.at + 1 >= this.rows.length;
  }

  async go(step) {
    const at = this.at + step;
    if (at < -1 || at >= this.rows.length) return;
    if (at < 0) await this.studio.question.load();
    else await this.studio.question.open(this.rows[at].row);
    this.at = at;
    this.draw();
  }

  // An answer was given, or another row was opened: back starts from the latest again.
  restart() {
    this.at = -1;
    this.draw();
  }
}
