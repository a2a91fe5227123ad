// The rows of one series that the page holds: one array a column, in the order of the rows.

import {timeOf} from "./format.js";
import {search} from "./thinning.js";

const MOST = 200_000;   // rows that are kept: at five channels about 30 MB; beyond, the oldest go
const GAP = 10;   // intervals between two rows that follow each other, from which nothing came for long
const BY_CHANNEL = ["values", "expected", "low", "high"];
const missing = value => typeof value === "number" ? value : NaN;

export class Columns {
  constructor(channels) {
    this.channels = channels;
    this.kind = undefined;   // of the places along the axis: "time", "number" or "row", told by the first row
    this.clear();
  }

  clear() {
    this.rows = [];
    this.at = [];   // place along the axis: milliseconds, or the number of the row
    this.severity = [];
    for (const name of BY_CHANNEL) this[name] = Object.fromEntries(this.channels.map(channel => [channel, []]));
  }

  get length() { return this.rows.length; }
  get first() { return this.at[0] ?? 0; }
  get last() { return this.at.at(-1) ?? 1; }
  get arrays() {
    return [this.rows, this.at, this.severity, ...BY_CHANNEL.flatMap(name => Object.values(this[name]))];
  }

  // how far apart two rows usually are along the axis
  get interval() {
    const rows = this.rows.at(-1) - this.rows[0];
    return rows > 0 ? (this.last - this.first) / rows || 1 : 1;
  }

  // whether nothing came for long before a row: a line across would tell of values that nobody saw
  gaps() {
    const longest = GAP * this.interval, {at, rows} = this;
    return i => i > 0 && at[i] - at[i - 1] > longest * (rows[i] - rows[i - 1]);
  }

  // what is drawn of a channel, by its number, or of the severity
  lines(key) {
    const channel = this.channels[key];
    return channel === undefined ? {values: this.severity} : Object.fromEntries(BY_CHANNEL.map(name => [name, this[name][channel]]));
  }

  place(time, row) {
    const found = timeOf(time) ?? NaN;
    this.kind ??= found === found ? "time" : typeof time === "number" ? "number" : "row";
    if (this.kind === "row") return row;
    const at = this.kind === "time" ? found : time;
    return Number.isFinite(at) ? at : this.last;
  }

  // the nearest row to a place along the axis
  nearest(at) {
    const after = search(this.at, at);
    if (after === 0) return 0;
    if (after >= this.length) return this.length - 1;
    return at - this.at[after - 1] <= this.at[after] - at ? after - 1 : after;
  }

  // rows as the service gives them in columns; they take the place of all that is held between
  // the first and the last of them
  merge(history) {
    const rows = history.rows ?? [];
    if (!rows.length) return;
    const first = search(this.rows, rows[0]), after = search(this.rows, rows.at(-1) + 1);
    const others = Array(rows.length).fill(NaN);
    const put = (column, values) => {
      const tail = column.splice(first).slice(after - first);
      for (const value of values) column.push(value);
      for (const value of tail) column.push(value);
    };
    const times = history.times ?? [];
    const at = rows.map((row, i) => this.place(times[i], row));
    put(this.rows, rows);
    put(this.at, at);
    put(this.severity, (history.severity ?? others).map(missing));
    for (const name of BY_CHANNEL) {
      for (const channel of this.channels) put(this[name][channel], (history[name]?.[channel] ?? others).map(missing));
    }
    this.trim();
  }

  // one row as it comes live; a row that is held already is replaced
  take(answer) {
    const spot = search(this.rows, answer.row), old = this.rows[spot] === answer.row ? 1 : 0;
    const put = (column, value) => {
      if (spot === column.length) column.push(value); else column.splice(spot, old, value);
    };
    const at = this.place(answer.time, answer.row);
    put(this.rows, answer.row);
    put(this.at, at);
    put(this.severity, missing(answer.severity));
    for (const name of BY_CHANNEL) {
      this.channels.forEach((channel, i) => {
        const values = answer[name];
        put(this[name][channel], missing(Array.isArray(values) ? values[i] : values?.[channel]));
      });
    }
    this.trim();
  }

  // a tenth at a time, so that it is not done for every row
  trim() {
    if (this.length <= MOST) return;
    const many = this.length - 0.9 * MOST;
    for (const column of this.arrays) column.splice(0, many);
  }
}
