// The table: columns, order, filters, and acts on the rows that were chosen.

import { get, once } from "./api.js";
import { askColumns } from "./ask.js";
import { acceptSure, BulkActs } from "./bulk.js";
import { button, by, classKey, fill, make, number, percent, rowsOf } from "./dom.js";
import { tag, thumb } from "./views.js";

const FEW = 6; // columns shown until others are chosen
const MOST_TEXTS = 2; // long texts among them
const FEW_CHARACTERS = 24; // a cell with so many is never broken into lines
const OWN = [
  ["label", "Label"],
  ["predicted", "Prediction"],
  ["certainty", "Certainty"],
  ["person", "Person"],
];

export class TableView {
  constructor(studio) {
    this.studio = studio;
    this.page = 0;
    this.sort = "row";
    this.descending = false;
    this.chosen = new Set(); // row numbers, also of other pages
    this.all = false; // every row that matches
    this.total = 0;
    this.last = null; // the checkbox from which Shift reaches
    this.columns = null;
    this.like = null; // the row that all rows must be similar to
    let waiting = 0;
    by("filters").addEventListener("submit", (event) => event.preventDefault());
    by("filters").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.search(), 200);
    });
    by("unlike").addEventListener("click", () => {
      this.like = null;
      this.search();
    });
    by("filters").addEventListener("reset", () => setTimeout(() => this.search()));
    by("previous").addEventListener("click", () => this.load(this.page - 1));
    by("following").addEventListener("click", () => this.load(this.page + 1));
    by("table-columns").addEventListener("click", () => this.chooseColumns());
    by("accept-sure").addEventListener("click", () => this.acceptSure());
    by("choose-all").addEventListener("click", () => this.chooseAll());
    by("choose-none").addEventListener("click", () => this.chooseNone());
    by("table-undo").addEventListener("click", () => this.undo());
    by("rows").addEventListener("keydown", (event) => this.move(event));
    by("rows").addEventListener("click", (event) => this.clicked(event));
    document.addEventListener("keydown", (event) => this.key(event));
    this.acts = new BulkActs(
      studio,
      () =>
        this.all
          ? { where: this.where() }
          : { rows: [...this.chosen], data: studio.state.data },
      { done: () => this.changed() },
    );
    by("bulk").append(this.acts.element);
  }

  // The rows like one, from the most similar one on; what was chosen before is not.
  alike({ row, id }) {
    this.like = { row, id };
    this.page = 0;
    this.sort = "row";
    this.descending = false;
    this.chooseNone();
  }

  where() {
    const share = (id) => (by(id).value === "" ? "" : String(Number(by(id).value) / 100));
    const words = {
      words: by("words").value,
      show: by("show").value,
      label: by("labelled-as").value,
      predicted: by("predicted").value,
      low: share("sure-from"),
      high: share("sure-to"),
      person: by("by-person").value,
      like: this.like ? String(this.like.row) : "",
      sort: this.sort,
      descending: this.descending ? "1" : "",
    };
    return Object.fromEntries(Object.entries(words).filter(([, value]) => value !== ""));
  }

  async search() {
    this.chooseNone();
    await this.studio.attempt(() => this.load(0));
  }

  async load(page = this.page) {
    const { classes } = this.studio.state;
    for (const id of ["predicted", "labelled-as"]) {
      fill(by(id), [["", "any class"], ...classes.map((c) => [c.label, c.name])]);
    }
    this.acts.fill();
    this.asking?.abort(); // by a later question
    const { signal } = (this.asking = new AbortController());
    const path = `/api/table?${new URLSearchParams({ ...this.where(), page })}`;
    const found = await get(path, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
    if (signal.aborted) return;
    this.page = found.page;
    this.total = found.total;
    this.names = found.columns;
    // What people wrote comes first, as in the item.
    const rest = found.columns.filter((name) => !found.texts.includes(name));
    this.columns ??= [...found.texts.slice(0, MOST_TEXTS), ...rest].slice(0, FEW);
    fill(by("by-person"), [["", "anybody"], ...found.people.map((who) => [who, who])]);
    by("like").hidden = !this.like;
    if (this.like) this.acts.suggest(found.rows[0]);
    by("like-note").textContent = this.like
      ? `Rows similar to row ${this.like.id}, the most similar ones first. ` +
        (found.total ? "" : this.studio.words())
      : "";
    const { sort, descending, like, ...filters } = this.where();
    by("clear-filters").hidden = Object.keys(filters).join() === "show" && filters.show === "all";
    by("table-count").textContent = rowsOf(found.total);
    by("page").textContent = `${found.page + 1} of ${Math.max(found.pages, 1)}`;
    by("previous").disabled = found.page === 0;
    by("following").disabled = found.page + 1 >= found.pages;
    this.drawHead();
    const focused = document.activeElement?.dataset?.row;
    by("rows").replaceChildren(...found.rows.map((line) => this.line(line)));
    if (focused) by("rows").querySelector(`[data-row="${focused}"]`)?.focus();
    this.last = null;
    this.drawChoice();
  }

  drawHead() {
    const focused = document.activeElement?.dataset?.sort;
    const columns = this.columns.map((name) => [`column:${name}`, name]);
    by("heads").replaceChildren(
      make("th", { scope: "col" }, make("span", { class: "visually-hidden" }, "Chosen")),
      ...[["row", "Row"], ...columns, ...OWN].map(([key, words]) => this.head(key, words)),
    );
    if (focused) by("heads").querySelector(`[data-sort="${CSS.escape(focused)}"]`)?.focus();
  }

  head(key, words) {
    const here = this.sort === key && !(this.like && key === "row");
    const order = here ? (this.descending ? "descending" : "ascending") : null;
    return make(
      "th",
      { scope: "col", "aria-sort": order },
      make(
        "button",
        {
          type: "button",
          class: "sort",
          title: words,
          "data-sort": key,
          onclick: () => this.sortBy(key),
        },
        make("span", { class: "clamp" }, words),
        make("span", { "aria-hidden": "true" }, here ? (this.descending ? " ↓" : " ↑") : ""),
      ),
    );
  }

  async sortBy(key) {
    this.descending = this.sort === key ? !this.descending : false;
    this.sort = key;
    await this.load(0);
  }

  line(line) {
    const box = make("input", {
      type: "checkbox",
      "data-row": line.row,
      "aria-label": `Choose row ${line.id}`,
    });
    box.checked = this.all || this.chosen.has(line.row);
    const open = button(line.id, () => this.studio.open(line.row, "table"), { class: "link" });
    const cells = new Map(line.cells.map((cell) => [cell.name, cell]));
    return make(
      "tr",
      { class: box.checked ? "chosen" : "" },
      make("td", {}, box),
      make("td", { class: "nowrap" }, thumb(this.studio, line.row), open),
      ...this.columns.map((name) => this.cell(cells.get(name))),
      make("td", {}, line.skipped ? "skipped" : tag(this.studio, line.label)),
      make("td", {}, line.guess ? tag(this.studio, line.guess.label) : "–"),
      make("td", { class: "nowrap" }, line.guess ? percent(line.guess.probability) : "–"),
      make("td", { class: "soft" }, line.who.join(", ") || (line.assigned && `for ${line.assigned}`)),
    );
  }

  cell(cell) {
    const cut = cell && cell.length > cell.value.length;
    const few = (cell?.value.length ?? 0) <= FEW_CHARACTERS;
    return make(
      "td",
      {},
      make("div", { class: `clamp ${few ? "few" : ""}`, title: cell?.value }, cell ? cell.value + (cut ? " …" : "") : ""),
    );
  }

  boxes() {
    return [...by("rows").querySelectorAll("input[data-row]")];
  }

  // With Shift, all rows from the last one that was chosen.
  clicked(event) {
    const box = event.target.closest("input[data-row]");
    if (!box) return;
    const boxes = this.boxes();
    const [here, there] = [boxes.indexOf(box), boxes.indexOf(this.last)];
    const some = event.shiftKey && there >= 0;
    const reached = some ? boxes.slice(Math.min(here, there), Math.max(here, there) + 1) : [box];
    this.choose(reached, box.checked);
    this.last = box;
  }

  choose(boxes, on) {
    if (this.all) {
      this.all = false;
      this.chosen = new Set(this.boxes().map((one) => Number(one.dataset.row)));
    }
    for (const box of boxes) {
      const row = Number(box.dataset.row);
      box.checked = on;
      if (on) this.chosen.add(row);
      else this.chosen.delete(row);
    }
    this.drawChoice();
  }

  // Arrows go from row to row, with Shift they choose on the way.
  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest("tr");
    if (!step || !row) return;
    event.preventDefault();
    const boxes = this.boxes();
    const from = row.querySelector("input[data-row]");
    const next = boxes[boxes.indexOf(from) + step];
    if (!next) return;
    if (event.shiftKey) this.choose([from, next], true);
    this.last = next;
    next.focus();
  }

  key(event) {
    const typing = event.target.matches?.("input:not([type=checkbox]), select");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (this.studio.view !== "table" || by("dialog").open) return;
    const one = classKey(this.studio.state.classes, event.key);
    const acts = {
      a: () => this.chooseAll(),
      z: () => this.undo(),
      "/": () => by("words").focus(),
    };
    const act = one && this.count() ? () => this.acts.run({ action: "label", label: one.label }) : acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }

  count() {
    return this.all ? this.total : this.chosen.size;
  }

  chooseAll() {
    this.all = true;
    this.drawChoice();
  }

  chooseNone() {
    this.all = false;
    this.chosen.clear();
    this.drawChoice();
  }

  drawChoice() {
    const n = this.count();
    by("n-chosen").textContent = n === 1 ? "1 row is chosen." : `${number(n)} rows are chosen.`;
    by("bulk").hidden = n === 0;
    by("choose-none").disabled = n === 0;
    for (const box of this.boxes()) {
      box.checked = this.all || this.chosen.has(Number(box.dataset.row));
      box.closest("tr").classList.toggle("chosen", box.checked);
    }
  }

  async changed() {
    this.chooseNone();
    await this.load();
  }

  undo() {
    return this.studio.attempt(async () => {
      await once("undo", {});
      this.studio.say("The last act was taken back.");
      await this.studio.advance();
      await this.load();
    });
  }

  acceptSure() {
    return this.studio.attempt(async () => {
      if (await acceptSure(this.studio, this.where())) await this.changed();
    });
  }

  async chooseColumns() {
    const hidden = new Set(this.names.filter((name) => !this.columns.includes(name)));
    const chosen = await askColumns(this.names, hidden);
    if (chosen === null) return;
    this.columns = this.names.filter((name) => !chosen.has(name));
    await this.load();
  }
}
