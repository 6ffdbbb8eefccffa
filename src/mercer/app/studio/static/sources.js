// What rules, language models and colleagues say of the item. There are as many lines as
// sources, also where they say nothing, so that the buttons below stay where they are.

import { by, make, number, percent } from "./dom.js";
import { tag } from "./views.js";

export function drawSources(studio, question) {
  const said = question?.sources ?? [];
  const lines = question ? Math.max(said.length, studio.state.sources) : 0;
  by("sources").hidden = !lines;
  by("sources").replaceChildren(
    ...[...Array(lines).keys()].map((k) => {
      const one = said[k];
      if (!one) return make("li", { class: "soft" }, k ? "\u00a0" : "No source says anything.");
      return make(
        "li",
        {},
        make("span", { class: "soft" }, `${one.source}: `),
        one.denied ? "not " : "",
        tag(studio, one.label),
        one.share < 1 ? ` ${percent(one.share)}` : "",
        one.given
          ? make("span", { class: "soft" }, ` · right in ${number(one.right)} of ${number(one.given)}`)
          : "",
      );
    }),
  );
}
