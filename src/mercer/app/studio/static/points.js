// Points drawn with WebGL.

import { colourNumber } from "./dom.js";

const POINT = `
attribute vec2 place; attribute vec4 tint;
uniform vec2 middle; uniform vec2 scale; uniform float size;
varying vec4 colour;
void main() {
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  gl_PointSize = tint.a > 0.999 ? size * 1.9 : size;
  colour = tint;
}`;
const COLOUR = `
precision mediump float;
varying vec4 colour;
void main() {
  if (length(gl_PointCoord - 0.5) > 0.5) discard;
  gl_FragColor = colour;
}`;

let shuffled = new Uint32Array();

function shuffle(n) {
  if (shuffled.length === n) return shuffled;
  shuffled = new Uint32Array(n);
  let seed = 1;
  for (let k = 0; k < n; k++) {
    seed = (1664525 * seed + 1013904223) >>> 0;
    const other = seed % (k + 1);
    shuffled[k] = shuffled[other];
    shuffled[other] = k;
  }
  return shuffled;
}

// Rows as they are drawn: shuffled, so that the first few stand for all; those with a
// label last, on top of the others. Returns them and how many have no label.
export function ordered(n, looks) {
  const rows = new Uint32Array(n);
  const known = [];
  let k = 0;
  for (const row of shuffle(n)) {
    if (looks[2 * row + 1] === 255) known.push(row);
    else rows[k++] = row;
  }
  rows.set(known, k);
  return [rows, k];
}

export class Points {
  constructor(gl, restored) {
    this.gl = gl;
    this.prepare();
    gl.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    gl.canvas.addEventListener("webglcontextrestored", () => {
      this.prepare();
      restored();
    });
  }

  prepare() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [
      [gl.VERTEX_SHADER, POINT],
      [gl.FRAGMENT_SHADER, COLOUR],
    ]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    this.at = (name) => gl.getUniformLocation(program, name);
    this.buffers = [
      ["place", 2, gl.FLOAT, false],
      ["tint", 4, gl.UNSIGNED_BYTE, true],
    ].map(([name, ...kind]) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      const where = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(where);
      gl.vertexAttribPointer(where, ...kind, 0, 0);
      return buffer;
    });
    gl.enable(gl.BLEND);
    // The canvas holds colours multiplied by their opacity, so opacities add up as they are.
    const { SRC_ALPHA, ONE, ONE_MINUS_SRC_ALPHA } = gl;
    gl.blendFuncSeparate(SRC_ALPHA, ONE_MINUS_SRC_ALPHA, ONE, ONE_MINUS_SRC_ALPHA);
  }

  // Plain loops: this runs after every answer, for every row.
  upload({ rows, places, looks, palette }) {
    const { gl } = this;
    const n = rows.length;
    const where = new Float32Array(2 * n);
    const tints = new Uint8Array(4 * n);
    const colours = [...Array(256).keys()].map((kind) => palette[kind === 255 ? 10 : colourNumber(kind)]);
    for (let k = 0; k < n; k++) {
      const row = rows[k];
      where[2 * k] = places[2 * row];
      where[2 * k + 1] = places[2 * row + 1];
      const kind = looks[2 * row];
      const sure = looks[2 * row + 1];
      const fade = kind === 255 ? 0.55 : 0.25 + (0.6 * sure) / 255;
      const colour = colours[kind];
      tints[4 * k] = colour[0];
      tints[4 * k + 1] = colour[1];
      tints[4 * k + 2] = colour[2];
      tints[4 * k + 3] = sure === 255 ? 255 : Math.round(255 * fade);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[0]);
    gl.bufferData(gl.ARRAY_BUFFER, where, gl.STATIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[1]);
    gl.bufferData(gl.ARRAY_BUFFER, tints, gl.STATIC_DRAW);
  }

  paint(middle, scale, size, parts) {
    const { gl } = this;
    gl.viewport(0, 0, gl.canvas.width, gl.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform2f(this.at("middle"), ...middle);
    gl.uniform2f(this.at("scale"), ...scale);
    gl.uniform1f(this.at("size"), size);
    for (const [from, to] of parts) gl.drawArrays(gl.POINTS, from, to - from);
  }
}
