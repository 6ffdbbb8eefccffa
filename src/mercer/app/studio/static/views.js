// The table, the review of labels, and export.

import { get, once, picture, raw, upload } from "./api.js";
import { by, colour, make, number, percent } from "./dom.js";

const EXPORTS = [
  ["csv", "CSV", "labelled.csv"],
  ["excel", "Excel", "labelled.xlsx"],
  ["parquet", "Parquet", "labelled.parquet"],
  ["label_studio", "Label Studio JSON", "label-studio.json"],
  ["prodigy", "Prodigy JSONL", "prodigy.jsonl"],
  ["model", "Model", "model.skops"],
  ["report", "Report", "report.html"],
];

// A picture that is fetched when it is about to be seen.
function thumb(studio, row) {
  if (!studio.state.images) return null;
  const image = make("img", { class: "thumb", alt: "" });
  new IntersectionObserver(async (seen, observer) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    observer.disconnect();
    image.src = await picture(row, studio.state.data);
  }).observe(image);
  return image;
}

function tag(studio, label) {
  if (label === null) return make("span", { class: "soft" }, "–");
  return make(
    "span",
    { class: `tag ${colour(label)}` },
    make("span", { class: "swatch", "aria-hidden": "true" }),
    studio.name(label),
  );
}

export class TableView {
  constructor(studio) {
    this.studio = studio;
    this.page = 0;
    let waiting = 0;
    by("filters").addEventListener("submit", (event) => event.preventDefault());
    by("filters").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.load(0), 200);
    });
    by("previous").addEventListener("click", () => this.load(this.page - 1));
    by("following").addEventListener("click", () => this.load(this.page + 1));
  }

  async load(page = this.page) {
    const select = by("predicted");
    const chosen = select.value;
    select.replaceChildren(
      make("option", { value: "" }, "any class"),
      ...this.studio.state.classes.map((c) => make("option", { value: c.label }, c.name)),
    );
    select.value = chosen;
    const asked = new URLSearchParams({
      words: by("words").value,
      show: by("show").value,
      predicted: select.value,
      order: by("order").value,
      page,
    });
    const found = await get(`/api/table?${asked}`);
    this.page = found.page;
    by("table-count").textContent = `${number(found.total)} rows`;
    by("page").textContent = `${found.page + 1} of ${Math.max(found.pages, 1)}`;
    by("previous").disabled = found.page === 0;
    by("following").disabled = found.page + 1 >= found.pages;
    by("rows").replaceChildren(...found.rows.map((line) => this.line(line)));
  }

  line(line) {
    const open = make(
      "button",
      { type: "button", class: "link", onclick: () => this.studio.open(line.row) },
      line.id,
    );
    const guess = line.guess
      ? [tag(this.studio, line.guess.label), ` ${percent(line.guess.probability)}`]
      : ["–"];
    return make(
      "tr",
      {},
      make("td", {}, open),
      make("td", { class: "cells" }, thumb(this.studio, line.row), line.text),
      make("td", {}, line.skipped ? "skipped" : tag(this.studio, line.label)),
      make("td", { class: "nowrap" }, ...guess),
    );
  }
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

  fill(id, lines, none, words) {
    by(id).replaceChildren(
      ...lines.map((line) =>
        make(
          "li",
          {},
          make(
            "button",
            { type: "button", class: "link", onclick: () => this.studio.open(line.row) },
            `Row ${line.id}`,
          ),
          make("span", { class: "cells" }, thumb(this.studio, line.row), line.text),
          make("span", { class: "soft" }, words(line)),
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
      ...EXPORTS.map(([kind, words, file]) =>
        make("button", { type: "button", onclick: () => this.save(kind, file) }, words),
      ),
    );
    by("import").addEventListener("submit", (event) => {
      event.preventDefault();
      this.take();
    });
  }

  load() {}

  async save(kind, file) {
    try {
      this.studio.say("");
      const body = await (await raw(`/api/export/${kind}`)).blob();
      const link = make("a", { href: URL.createObjectURL(body), download: file });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    } catch (error) {
      this.studio.say(error.message);
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

