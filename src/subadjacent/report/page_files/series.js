// One series of the report: where its rows stand along the axis, and its lines as finely as a view needs.

import {search} from "./thinning.js";

const MAX_POINTS = 20_000;   // of a line in view: more are thinned no faster than the eye moves
const QUANTISED_HEADER = 16, EXACT_HEADER = 8;   // bytes before the values of a piece
const HIGHEST = 65_535;   // of the whole numbers that quantised values are stored as

export function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), one => one.charCodeAt(0));
}

// y at x, on straight lines between points and on beyond their ends by ``slope``
function interpolate(xs, ys, x, slope) {
  const end = xs.length - 1;
  if (x <= xs[0]) return ys[0] + (x - xs[0]) * slope;
  if (x >= xs[end]) return ys[end] + (x - xs[end]) * slope;
  const i = search(xs, x);
  return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
}

// Rows [from, until) of a series at one value a row, or at the lowest and the highest of every ``step`` rows
class Piece {
  constructor(series, [from, until, step, size], pieces) {
    Object.assign(this, {series, from, until, step, length: size, kind: series.kind, interval: series.interval, drawn: new Map()});
    // what comes before it in a line
    this.before = {count: pieces.length, values: pieces.reduce((sum, one) => sum + one[3], 0)};
  }

  // rows of the points, and their places along the axis, once they are needed
  get rows() {
    const {step, from, until} = this;
    const inside = i => step === 1 ? i : Math.floor(i / 2) * step + (i % 2 ? 0.75 : 0.25) * (step - 1);
    return this.held("rows", () => Float64Array.from({length: this.length}, (_, i) => Math.min(from + inside(i), until - 1)));
  }

  get at() { return this.held("at", () => this.rows.map(row => this.series.place(row))); }

  held(key, make) {
    if (!this.drawn.has(key)) this.drawn.set(key, make());
    return this.drawn.get(key);
  }

  // whether the clock was broken before a point
  gaps() {
    const breaks = this.held("gaps", () => new Set(this.series.info.starts.map(start => search(this.rows, start))));
    return i => i > 0 && breaks.has(i);
  }

  nearest(at) {
    const after = Math.min(this.length - 1, search(this.at, at));
    return after > 0 && at - this.at[after - 1] <= this.at[after] - at ? after - 1 : after;
  }

  // a channel by its number, else a line by its name; above single rows the band holds what is expected
  lines(key) {
    const {parts, lines, channels} = this.series.page;
    if (typeof key === "string") return this.held(key, () => ({values: this.values(parts.length * channels.length + lines.indexOf(key))}));
    return this.held(key, () => {
      const [seen, expected, below, above] = parts.map((_, part) => this.values(key * parts.length + part));
      const pair = this.step === 1 ? expected : expected.map((_, i) => expected[i ^ 1] ?? expected[i]);
      return {
        values: this.withoutMissing(seen, this.series.info.missing[key] ?? []),
        expected: this.step === 1 ? expected : null,
        low: expected.map((one, i) => Math.min(one, pair[i]) + below[i]),
        high: expected.map((one, i) => Math.max(one, pair[i]) + above[i]),
      };
    });
  }

  // values that stand in for missing ones were not seen
  withoutMissing(values, segments) {
    for (const [first, last] of segments) values.fill(NaN, search(this.rows, first), search(this.rows, last));
    return values;
  }

  // the values of one line: the letter before them says how they are stored
  values(line) {
    const [code, buffer] = this.series.line(line), {count, values: before} = this.before, size = this.length;
    const view = new DataView(buffer);
    if (code === "c") return new Float64Array(size).fill(view.getFloat64(0, true));
    if (code === "f") {
      const start = EXACT_HEADER * count + 4 * before, base = view.getFloat64(start, true);
      return Float64Array.from({length: size}, (_, i) => base + view.getFloat32(start + EXACT_HEADER + 4 * i, true));
    }
    const start = QUANTISED_HEADER * count + 2 * before;
    const low = view.getFloat64(start, true), high = view.getFloat64(start + 8, true);
    return Float64Array.from({length: size}, (_, i) => {
      const share = view.getUint16(start + QUANTISED_HEADER + 2 * i, true) / HIGHEST;
      return low * (1 - share) + high * share;
    });
  }
}

export class Series {
  constructor(page, number) {
    this.page = page;
    this.number = number;
    this.info = page.series[number];
    this.kind = page.kind;
    this.interval = this.info.interval;
    this.length = this.info.rows;
    this.first = this.place(0);
    this.last = this.place(this.length - 1);
    this.decoded = new Map();
    const {pieces} = this.info;
    this.pieces = pieces.map((piece, i) => new Piece(this, piece, pieces.slice(0, i)));
  }

  // where a row, whole or not, is along the axis, and the row at a place
  place(row) { return interpolate(...this.info.anchors, row, this.interval); }
  row(place) {
    const [rows, places] = this.info.anchors;
    return interpolate(places, rows, place, 1 / this.interval);
  }

  // half a row to either side, so that a segment of one row has a width
  span([first, last]) { return {from: this.place(first) - this.interval / 2, to: this.place(last - 1) + this.interval / 2}; }

  // the finest piece that covers a view and is not too long to draw
  piece({from, to}) {
    const low = Math.max(0, this.row(from)), high = Math.min(this.length - 1, this.row(to));
    const fits = ({from: first, until, step}) => first <= low && high < until && (high - low) / step * (step > 1 ? 2 : 1) <= MAX_POINTS;
    return this.pieces.filter(fits).reduce((best, one) => one.step < best.step ? one : best, this.pieces[0]);
  }

  line(number) {
    if (!this.decoded.has(number)) {
      const text = document.getElementById(`line-${this.number}-${number}`).textContent;
      this.decoded.set(number, [text[0], bytesOf(text.slice(1)).buffer]);
    }
    return this.decoded.get(number);
  }
}
