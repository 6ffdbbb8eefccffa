// The review of labels, and export.

import { get, once, picture, raw, upload } from "./api.js";
import { button, by, colour, image, make, number, percent, rowLink, swatch } from "./dom.js";

const EXPORTS = [
  ["csv", "CSV", "labelled.csv"],
  ["people", "CSV, each person apart", "labelled-by-person.csv"],
  ["excel", "Excel", "labelled.xlsx"],
  ["parquet", "Parquet", "labelled.parquet"],
  ["label_studio", "Label Studio JSON", "label-studio.json"],
  ["prodigy", "Prodigy JSONL", "prodigy.jsonl"],
  ["model", "Model", "model.skops"],
  ["report", "Report", "report.html"],
];

// A picture that is fetched when it is about to be seen.
export function thumb(studio, row) {
  if (!studio.state.images) return null;
  const one = image({ class: "thumb", alt: "" });
  new IntersectionObserver(async (seen, observer) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    observer.disconnect();
    one.src = await picture(row, studio.state.data);
  }).observe(one);
  return one;
}

export function tag(studio, label) {
  if (label === null) return make("span", { class: "soft" }, "–");
  return make("span", { class: `tag ${colour(label)}` }, swatch(), studio.name(label));
}

export class ReviewView {
  constructor(studio) {
    this.studio = studio;
    by("reask").addEventListener("click", async () => {
      await once("reask", {});
      await this.load();
    });
  }

  async load() {
    const found = await get("/api/review");
    const name = (label) => this.studio.name(label);
    this.fill("suspicious", found.suspicious, "No label looks wrong.", (line) =>
      `labelled ${name(line.label)}, looks like ${name(line.likely)}`,
      (line) => [
        this.act("It is right", line, { action: "confirm" }),
        this.act(`Take ${name(line.likely)}`, line, {
          action: "label",
          label: line.likely,
          replace: true,
        }),
      ],
    );
    this.fill("disputed", found.disputed, "Nobody disagrees.", (line) =>
      Object.entries(line.answers)
        .map(([who, label]) => `${who}: ${name(label)}`)
        .join(", "),
    );
    this.fill("skipped", found.skipped, "Nothing was skipped.", () => "");
    by("reask").hidden = found.skipped.length === 0;
    const kappa = (value) => (value === null ? "not defined" : value.toFixed(2));
    const people = Object.entries(found.people).map(([who, n]) => `${who} ${number(n)}`);
    by("agreement").replaceChildren(
      make("p", {}, people.length ? `Answers: ${people.join(", ")}.` : "No answers yet."),
      ...found.agreement.map((a) =>
        make(
          "p",
          {},
          `${a.first} and ${a.second} agree on ${percent(a.share)} of ` +
            `${number(a.n_items)} rows (Cohen's kappa ${kappa(a.kappa)}).`,
        ),
      ),
      found.agreement.length > 1
        ? make("p", {}, `All together: Fleiss' kappa ${kappa(found.fleiss)}.`)
        : "",
    );
  }

  act(words, line, said) {
    const look = { class: "small", "aria-label": `${words}: row ${line.id}` };
    return button(words, () => this.settle(line, said), look);
  }

  // The list goes on with its next line.
  async settle(line, said) {
    const at = [...by("suspicious").children].findIndex(
      (one) => Number(one.dataset.row) === line.row,
    );
    await this.studio.attempt(async () => {
      await once("bulk", { rows: [line.row], data: this.studio.state.data, ...said });
      await this.studio.advance();
      await this.load();
    });
    const lines = by("suspicious").querySelectorAll("li[data-row]");
    (lines[Math.min(at, lines.length - 1)]?.querySelector(".settle button") ?? by("main")).focus();
  }

  fill(id, lines, none, words, acts = () => []) {
    by(id).replaceChildren(
      ...lines.map((line) =>
        make(
          "li",
          { "data-row": line.row },
          rowLink(this.studio, line, "review"),
          make("span", { class: "cells" }, thumb(this.studio, line.row), line.text),
          make(
            "div",
            { class: "settle" },
            make("span", { class: "soft" }, words(line)),
            ...acts(line),
          ),
        ),
      ),
    );
    if (!lines.length) by(id).replaceChildren(make("li", { class: "soft" }, none));
  }
}

export class ExportView {
  constructor(studio) {
    this.studio = studio;
    by("exports").replaceChildren(
      ...EXPORTS.map(([kind, words, file]) => button(words, () => this.save(kind, file))),
    );
    by("give-up").addEventListener("click", () => this.giveUp?.abort());
    by("import").addEventListener("submit", (event) => {
      event.preventDefault();
      this.take();
    });
  }

  load() {}

  // Some files take a minute to make: the seconds go on, and it can be given up.
  async save(kind, file) {
    this.giveUp?.abort();
    const mine = (this.giveUp = new AbortController());
    const began = performance.now();
    const tell = (words) => (by("exporting").textContent = words);
    const seconds = () => Math.round((performance.now() - began) / 1000);
    const count = () => {
      const { exporting } = this.studio.state; // the stage, where something is learned
      tell(`Preparing ${file}${exporting ? `: ${exporting}` : ""} … ${seconds()} s`);
    };
    count();
    const clock = setInterval(count, 1000);
    by("give-up").hidden = false;
    try {
      this.studio.say("");
      const body = await (await raw(`/api/export/${kind}`, mine.signal)).blob();
      const link = make("a", { href: URL.createObjectURL(body), download: file });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
      tell(`${file} was saved after ${seconds()} s.`);
    } catch (error) {
      if (mine === this.giveUp) tell(mine.signal.aborted ? `${file} was given up.` : error.message);
    } finally {
      clearInterval(clock);
      if (mine === this.giveUp) by("give-up").hidden = true;
    }
  }

  async take() {
    const [file] = by("import-file").files;
    if (!file) return;
    try {
      const said = await upload(by("import-kind").value, file);
      by("imported").textContent =
        `${number(said.taken)} answers taken, ${number(said.known)} known already, ` +
        `${number(said.not_found)} not found in this table.`;
      await this.studio.refresh();
    } catch (error) {
      by("imported").textContent = error.message;
    }
  }
}

