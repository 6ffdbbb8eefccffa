// The questions that come next, in the page before they are needed.

import { get, person, picture } from "./api.js";

export class Ahead {
  constructor(studio) {
    this.studio = studio;
    this.questions = [];
    this.atOnce = false; // whether the next one can be shown before an answer is kept
    this.asked = 0;
  }

  // The next question, if the page need not wait for it.
  take() {
    if (!this.atOnce) return undefined;
    this.asked += 1; // what is being fetched was asked for before this one was taken
    return this.questions.shift();
  }

  forget() {
    this.asked += 1;
    this.questions = [];
  }

  async fetch() {
    const { data } = this.studio.state;
    const asked = ++this.asked;
    const found = await get(`/api/ahead?${new URLSearchParams({ who: person.name })}`);
    if (asked !== this.asked) return; // an answer was given meanwhile
    this.questions = found.questions;
    this.atOnce = found.at_once;
    for (const question of found.questions) {
      if (question.image) await picture(question.row, data);
    }
  }
}
