// The list of keys that "?" shows.

import { askForm } from "./ask.js";
import { make } from "./dom.js";

const KEYS = {
  "While labelling": [
    ["1 to 9, 0", "the first ten classes; further ones have letters, or keys of their own"],
    ["/", "find a class by its name"],
    ["Space", "read on in a long item; with Shift, back"],
    ["S", "I do not know"],
    ["Z", "take back the last act"],
    ["B, F", "back to earlier answers, and forward"],
    ["W", "why this one?"],
    ["P", "same or different?"],
    ["M", "more rows like this one"],
    ["A", "play or pause the recording"],
    ["T", "write a note"],
    ["G", "flag the row"],
    ["N", "name a new class"],
    ["L", "draw around a group on the map"],
  ],
  "On the map": [
    ["arrows", "move"],
    ["+, -", "zoom"],
    ["Enter", "open the row in the middle"],
    ["L", "go around a group: Space at each corner, then Enter; Escape gives up"],
  ],
  "In the table": [
    ["↑, ↓", "go from row to row; with Shift, choose on the way"],
    ["Space", "choose a row"],
    ["A", "choose all rows that match"],
    ["1 to 9, 0", "label the chosen rows"],
    ["Z", "take back the last act"],
    ["/", "search"],
  ],
};

export function showKeys() {
  const parts = Object.entries(KEYS).map(([title, lines]) =>
    make(
      "section",
      {},
      make("h3", { class: "small soft" }, title),
      make(
        "dl",
        { class: "keys" },
        ...lines.flatMap(([key, does]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, does)]),
      ),
    ),
  );
  const look = { class: "key-list", tabindex: "0", role: "region", "aria-label": "Keys" };
  askForm("Keys", [make("div", look, ...parts)], "Close", { wide: true, cancels: false });
}
