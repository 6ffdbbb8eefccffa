// All points, drawn with WebGL (or on a plain canvas where there is none): pan, zoom,
// click a point, or draw a line around a group.

import { raw } from "./api.js";
import { by, colourNumber } from "./dom.js";
import { ordered, Points } from "./points.js";

// While the map moves, as many points are drawn as this many milliseconds allow, those
// with a label always; once it rests, all of them.
const FRAME = 25;
const FEWEST = 1000;
const REST = 200;

export class PointMap {
  constructor(studio) {
    this.studio = studio;
    this.canvas = by("map");
    this.marks = by("marks");
    this.places = new Float32Array();
    this.looks = new Uint8Array();
    this.middle = [0, 0];
    this.zoom = 0.95;
    this.line = null; // corners of the lasso, as places of the map
    this.lassoing = false;
    this.current = null;
    this.frames = 0;
    this.rows = new Uint32Array();
    this.unlabelled = 0;
    this.drawn = 0; // points in the last frame
    this.quick = Infinity; // unlabelled ones among them while the map moves
    const gl = this.canvas.getContext("webgl", { antialias: false, alpha: true });
    if (gl) this.gl = new Points(gl, () => this.upload());
    else this.plain = this.canvas.getContext("2d");
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.readPalette();
      this.upload();
    });
    this.readPalette();
  }

  readPalette() {
    const style = getComputedStyle(document.documentElement);
    const names = [...Array(10).keys()].map((k) => `--c${k}`).concat("--point");
    this.css = names.map((name) => style.getPropertyValue(name).trim());
    this.palette = this.css.map((hex) =>
      [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)),
    );
  }

  async load() {
    const [places, looks] = await Promise.all([raw("/api/map"), raw("/api/colours")]);
    this.places = new Float32Array(await places.arrayBuffer());
    this.looks = new Uint8Array(await looks.arrayBuffer());
    by("map-note").hidden = this.places.length > 0;
    this.upload();
  }

  async recolour() {
    this.looks = new Uint8Array(await (await raw("/api/colours")).arrayBuffer());
    this.upload();
  }

  upload() {
    [this.rows, this.unlabelled] = ordered(this.places.length / 2, this.looks);
    this.gl?.upload(this);
    this.draw();
  }

  move() {
    this.moving = true;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      this.moving = false;
      this.draw();
    }, REST);
    this.draw();
  }

  // Only one drawing per frame, however many events there are. Points stay as they are
  // where only marks are new: many of them take longer than an answer may.
  draw(points = true) {
    this.stale ||= points;
    if (this.due) return;
    this.due = true;
    requestAnimationFrame((now) => {
      this.due = false;
      if (!this.stale) return this.paintMarks(window.devicePixelRatio || 1);
      this.stale = false;
      this.frames += 1;
      if (this.moving && now - this.painted < 1000) this.adapt(now - this.painted);
      this.painted = now;
      this.paint();
    });
  }

  adapt(taken) {
    const change = Math.max(0.3, Math.min(1.2, FRAME / taken));
    const most = Math.max(FEWEST, this.unlabelled);
    this.quick = Math.max(FEWEST, Math.min(most, this.quick) * change);
  }

  scales() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const side = Math.min(w, h);
    return [(this.zoom * side) / w, (this.zoom * side) / h];
  }

  paint() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (!w || !h) return;
    for (const canvas of [this.canvas, this.marks]) {
      if (canvas.width !== Math.round(w * ratio)) canvas.width = Math.round(w * ratio);
      if (canvas.height !== Math.round(h * ratio)) canvas.height = Math.round(h * ratio);
    }
    const n = this.places.length / 2;
    const [sx, sy] = this.scales();
    const size = Math.max(2.2, Math.min(9, 90 / Math.sqrt(n + 1) + 1.5)) * ratio;
    const grown = size * Math.sqrt(Math.max(1, Math.min(6, this.zoom)));
    const some = this.moving ? Math.min(this.quick, this.unlabelled) : this.unlabelled;
    const parts = [
      [0, Math.round(some)],
      [this.unlabelled, n],
    ].filter(([from, to]) => from < to);
    if (this.gl) this.gl.paint(this.middle, [sx, sy], grown, parts);
    else this.paintPlain(parts, grown);
    this.drawn = parts.reduce((sum, [from, to]) => sum + to - from, 0);
    this.paintMarks(ratio);
  }

  paintPlain(parts, size) {
    const ink = this.plain;
    ink.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const ratio = this.canvas.width / this.canvas.clientWidth;
    for (const [from, to] of parts) {
      for (const row of this.rows.subarray(from, to)) {
        const kind = this.looks[2 * row];
        const known = this.looks[2 * row + 1] === 255;
        ink.globalAlpha = known ? 1 : 0.3 + (0.6 * this.looks[2 * row + 1]) / 255;
        ink.fillStyle = this.css[kind === 255 ? 10 : colourNumber(kind)];
        const [x, y] = this.toScreen(row);
        const s = known ? 1.6 * size : size;
        ink.fillRect(x * ratio - s / 2, y * ratio - s / 2, s, s);
      }
    }
  }

  paintMarks(ratio) {
    const ink = this.marks.getContext("2d");
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, this.marks.width, this.marks.height);
    const style = getComputedStyle(document.documentElement);
    ink.strokeStyle = style.getPropertyValue("--ink");
    ink.lineWidth = 2;
    if (this.current !== null && 2 * this.current < this.places.length) {
      const [x, y] = this.toScreen(this.current);
      ink.beginPath();
      ink.arc(x, y, 9, 0, 2 * Math.PI);
      ink.stroke();
    }
    if (document.activeElement === this.canvas) {
      const [x, y] = [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2];
      ink.strokeRect(x - 5, y - 5, 10, 10); // what Enter opens
    }
    if (this.line) {
      ink.beginPath();
      const corners = this.line.map(([x, y]) => this.onScreen(x, y));
      corners.forEach(([x, y], k) => (k ? ink.lineTo(x, y) : ink.moveTo(x, y)));
      ink.setLineDash([5, 4]);
      ink.stroke();
      ink.setLineDash([]);
    }
  }

  toScreen(row) {
    return this.onScreen(this.places[2 * row], this.places[2 * row + 1]);
  }

  onScreen(x, y) {
    const [sx, sy] = this.scales();
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const [right, up] = [(x - this.middle[0]) * sx, (y - this.middle[1]) * sy];
    return [((right + 1) * w) / 2, ((1 - up) * h) / 2];
  }

  toMap(x, y) {
    const [sx, sy] = this.scales();
    const { clientWidth: w, clientHeight: h } = this.canvas;
    return [
      ((2 * x) / w - 1) / sx + this.middle[0],
      (1 - (2 * y) / h) / sy + this.middle[1],
    ];
  }

  mark(row) {
    this.current = row;
    this.draw(false);
  }

  fit() {
    this.middle = [0, 0];
    this.zoom = 0.95;
    this.draw();
  }

  zoomBy(factor, x, y) {
    const before = this.toMap(x, y);
    this.zoom = Math.max(0.5, Math.min(400, this.zoom * factor));
    const after = this.toMap(x, y);
    this.middle = this.middle.map((m, k) => m + before[k] - after[k]);
    this.move();
  }

  nearest(x, y, within = 12) {
    let best = -1;
    let least = within * within;
    for (let row = 0; row < this.places.length / 2; row++) {
      const [px, py] = this.toScreen(row);
      const away = (px - x) ** 2 + (py - y) ** 2;
      if (away < least) [best, least] = [row, away];
    }
    return best;
  }

  inside() {
    const corners = this.line;
    const found = [];
    for (let row = 0; row < this.places.length / 2; row++) {
      const x = this.places[2 * row];
      const y = this.places[2 * row + 1];
      let is = false;
      for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
        const [ax, ay] = corners[i];
        const [bx, by_] = corners[j];
        if (ay > y !== by_ > y && x < ((bx - ax) * (y - ay)) / (by_ - ay) + ax) is = !is;
      }
      if (is) found.push(row);
    }
    return found;
  }

  // Choose what the line goes around.
  close() {
    const rows = this.line?.length > 2 ? this.inside() : [];
    this.setLasso(false);
    this.studio.lassoed(rows);
  }

  setLasso(on) {
    this.line = null;
    this.lassoing = on;
    by("lasso").setAttribute("aria-pressed", String(on));
    this.canvas.classList.toggle("lassoing", on);
    this.draw(false);
  }

  listen() {
    const canvas = this.canvas;
    const held = new Map();
    let moved = 0;
    const where = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, where(event));
      moved = 0;
      if (this.lassoing) this.line = [this.toMap(...where(event))];
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const now = where(event);
      moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
      if (this.line) this.line.push(this.toMap(...now));
      else if (held.size === 2) {
        const [, other] = [...held].find(([id]) => id !== event.pointerId);
        const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
        this.zoomBy(apart(now) / Math.max(apart(before), 1), other[0], other[1]);
      } else {
        const [a, b] = [this.toMap(...before), this.toMap(...now)];
        this.middle = this.middle.map((m, k) => m + a[k] - b[k]);
      }
      held.set(event.pointerId, now);
      this.move();
    });
    const end = (event) => {
      if (!held.delete(event.pointerId)) return;
      if (this.line) this.close();
      else if (moved < 5 && event.type === "pointerup") {
        const row = this.nearest(...where(event));
        if (row >= 0) this.studio.open(row);
      }
      this.draw();
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoomBy(Math.exp(-event.deltaY / 400), ...where(event));
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      const { clientWidth: w, clientHeight: h } = canvas;
      const step = {
        ArrowLeft: [-1, 0],
        ArrowRight: [1, 0],
        ArrowUp: [0, 1],
        ArrowDown: [0, -1],
      }[event.key];
      const factor = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 }[event.key];
      if (step) this.middle = this.middle.map((m, k) => m + (0.12 * step[k]) / this.zoom);
      else if (this.lassoing && event.key === " ") this.line = [...(this.line ?? []), this.middle];
      else if (this.lassoing && event.key === "Enter") this.close();
      else if (this.lassoing && event.key === "Escape") this.setLasso(false);
      else if (event.key === "Enter") {
        const row = this.nearest(w / 2, h / 2, Infinity);
        if (row >= 0) this.studio.open(row);
      } else if (!factor) return;
      event.preventDefault();
      if (factor) this.zoomBy(factor, w / 2, h / 2);
      else this.move();
    });
    for (const name of ["focus", "blur"]) canvas.addEventListener(name, () => this.draw(false));
    by("lasso").addEventListener("click", () => this.setLasso(!this.lassoing));
    by("fit").addEventListener("click", () => this.fit());
  }
}
