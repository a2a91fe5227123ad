// The charts of a series below each other, on one axis of time: severity, then the channels.

import {roundLimits} from "./axis.js";
import {Chart, RIGHT} from "./chart.js";
import {byId, make, oncePerFrame, say, settled} from "./dom.js";
import {count, number, place, power, severity} from "./format.js";
import {listen} from "./gestures.js";
import {spansOf} from "./spans.js";
import {bins, extremes, inView, thin, thinBand, within} from "./thinning.js";

const AT_FIRST = 5;   // channels that are drawn before the reader asks for all
const BESIDE = 0.5;   // of what the values span that a band may go beyond them before it is cut off
const SETTLES = 400;   // milliseconds after which a view is put into words

// zero and the threshold are always in sight
export function severityLimits(points, highest = Infinity) {
  const [low, high] = extremes(points, [1, points.length], 2);
  return roundLimits(Math.min(0, low), Math.min(highest, Math.max(1.2, high)));
}

// the rows in view, by the columns of pixels that they fall into
export function binsOf(columns, {from, to}, width) {
  const pixel = (to - from) / Math.max(1, width);
  return bins(columns.at, inView(columns.at, from, to), at => from + (Math.floor((at - from) / pixel) + 1) * pixel);
}

export class Charts {
  // onAlarm(id) is told which alarm was tapped on
  constructor(view, onAlarm) {
    this.view = view;
    this.onAlarm = onAlarm;
    this.columns = null;
    this.alarms = [];
    this.chosen = null;
    this.pointer = -1;
    this.all = false;
    this.left = 0;
    this.panels = [];
    this.plan = oncePerFrame(() => this.draw());
    this.describe = settled(() => this.tell(), SETTLES);
    this.stack = byId("charts");
    listen(this.stack, view, {
      at: event => this.placeOf(event),
      width: () => this.stack.clientWidth - this.left - RIGHT,
      point: at => this.point(at),
      tap: at => this.tap(at),
    });
    new ResizeObserver(this.plan).observe(this.stack);
    byId("more-channels").addEventListener("click", () => { this.all = !this.all; this.arrange(); });
  }

  show(columns) {
    this.columns = columns;
    this.pointer = -1;
    this.all = false;
    this.left = 0;
    this.arrange();
  }

  mark(alarms, chosen) {
    this.alarms = alarms;
    const again = chosen?.id !== this.chosen?.id;
    this.chosen = chosen;
    if (again && this.columns) this.arrange();
    this.plan();
  }

  // those of the chosen alarm first
  channels() {
    const {channels} = this.columns;
    const told = (this.chosen?.causes ?? []).map(cause => cause.channel).filter(name => channels.includes(name));
    const ordered = [...new Set([...told, ...channels])];
    return this.all ? ordered : ordered.slice(0, Math.max(AT_FIRST, Math.min(told.length, 2 * AT_FIRST)));
  }

  arrange() {
    const shown = this.channels(), many = this.columns.channels.length;
    this.panels = [null, ...shown].map((channel, i) => panel(channel, i, i === 0 || i === shown.length));
    this.stack.replaceChildren(...this.panels.map(one => one.figure));
    const more = byId("more-channels");
    more.hidden = many <= AT_FIRST;
    more.textContent = this.all ? "Show fewer channels" : `Show all ${count(many, "channel")}`;
    this.plan();
  }

  // what a chart draws: limits of its values, lines and band
  content({channel}, starts) {
    const {columns} = this, gaps = columns.gaps();
    const line = (values, role, dashed = false) => ({values, role, dashed, points: thin(columns.at, values, starts, gaps)});
    if (channel === null) {
      const severe = line(columns.severity, "severity");
      return {limits: severityLimits(severe.points), threshold: 1, lines: [severe]};
    }
    const seen = line(columns.values[channel], "seen"), expected = line(columns.expected[channel], "expected", true);
    const band = thinBand(columns.at, columns.low[channel], columns.high[channel], starts, gaps);
    const [low, high] = extremes(seen.points, [1, seen.points.length], 2);
    const [least] = extremes(band, [1, band.length], 3), [, most] = extremes(band, [2, band.length], 3);
    const beside = BESIDE * (high - low || Math.abs(high) * 0.1 || 1);
    const limits = roundLimits(Math.min(low, Math.max(least, low - beside)), Math.max(high, Math.min(most, high + beside)));
    return {limits, band, lines: [expected, seen]};
  }

  draw() {
    const {columns, view} = this;
    if (!columns?.length) return;
    const spans = spansOf(this.alarms, columns, this.chosen);
    const starts = binsOf(columns, view, this.stack.clientWidth - this.left - RIGHT);
    const contents = this.panels.map(one => this.content(one, starts));
    // the same room for all of them, which only grows: rows stand exactly below each other
    for (const [i, {chart}] of this.panels.entries()) {
      this.left = Math.max(this.left, Chart.room(contents[i].limits, chart.canvas.clientHeight, chart.paper));
    }
    for (const [i, {chart, axis}] of this.panels.entries()) {
      chart.draw({columns, view, spans, axis, left: this.left, pointer: this.pointer, ...contents[i]});
    }
    this.read();
    this.describe();
  }

  // the first and the last row in view
  edges() {
    const {columns, view} = this, [first, after] = within(columns.at, view.from, view.to);
    const last = Math.max(0, after - 1);
    return [Math.min(first, last), last];
  }

  // the row pointed at, else the last one in view, in numbers beside every name
  read() {
    const {columns} = this;
    const [first, last] = this.edges(), row = this.pointer < 0 ? last : this.pointer;
    for (const {channel, read} of this.panels) {
      if (channel === null) { say(read, severity(columns.severity[row])); continue; }
      const [low, high] = [columns.low[channel][row], columns.high[channel][row]];
      const step = Math.min(1, power(Math.max(Math.abs(low), Math.abs(high)) || columns.values[channel][row], 4));
      const told = [`${number(columns.values[channel][row], step)}`];
      const [from, to] = [number(low, step), number(high, step)];
      if (Number.isFinite(low)) told.push(from === to ? `usually ${from}` : `usually ${from} to ${to}`);
      say(read, told.join(" · "));
    }
    const kind = columns.kind;
    say(byId("pointed"), this.pointer < 0 ? "" : place(columns.at[row], kind));
    say(byId("segment"), [first, last].map(one => place(columns.at[one], kind)).join(" to "));
  }

  // every chart in a sentence, for those who do not see it
  tell() {
    const {columns, view} = this;
    if (!columns?.length) return;
    const [first, last] = this.edges(), range = [first, last + 1];
    const segment = byId("segment").textContent;
    const alarms = spansOf(this.alarms, columns, null).filter(one => one.to >= view.from && one.from <= view.to);
    for (const {channel, chart, summary} of this.panels) {
      const values = channel === null ? columns.severity : columns.values[channel];
      const [low, high] = extremes(values, range), written = channel === null ? severity : number;
      const text = low > high ? "no values" : `lowest ${written(low)}, highest ${written(high)}, last ${written(values[last])}`;
      say(summary, `${channel ?? "Severity"}, ${segment}: ${text}; ${count(alarms.length, "alarm")} in view.`);
      chart.canvas.dataset.points = chart.drawn;
    }
  }

  // where along the axis something happened
  placeOf(event) {
    const box = this.stack.getBoundingClientRect(), {from, to} = this.view;
    const share = (event.clientX - box.left - this.left) / (box.width - this.left - RIGHT);
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  }

  point(at) {
    this.pointer = at === null || !this.columns?.length ? -1 : this.columns.nearest(at);
    this.plan();
  }

  // to the row before or after the one that is read
  step(by) {
    const {columns, view} = this;
    if (!columns?.length) return;
    const from = this.pointer < 0 ? columns.nearest(view.to) : this.pointer + by;
    this.pointer = Math.min(columns.length - 1, Math.max(0, from));
    const at = columns.at[this.pointer];
    if (at < view.from || at > view.to) view.show(at - view.span / 2, at + view.span / 2);
    this.plan();
  }

  // leads to the chart of a channel
  reveal(channel) {
    if (!this.panels.some(one => one.channel === channel)) {
      this.all = true;
      this.arrange();
    }
    this.panels.find(one => one.channel === channel)?.figure.scrollIntoView({block: "nearest"});
  }

  tap(at) {
    const near = 4 * this.view.span / this.stack.clientWidth;
    const hit = spansOf(this.alarms, this.columns, null).find(one => at >= one.from - near && at <= one.to + near);
    if (hit) this.onAlarm(hit.id);
  }
}

function panel(channel, i, axis) {
  const canvas = make("canvas", {role: "img", "aria-label": channel === null ? "Chart of the severity" : `Chart of ${channel}`, "aria-describedby": `summary-${i}`});
  const read = make("span", {class: "read number"}), summary = make("span", {class: "hidden", id: `summary-${i}`});
  const name = make("b", {class: "name"}, channel ?? "Severity");
  const about = channel === null ? make("span", {class: "quiet about-severity"}, "1 opens an alarm") : null;
  const figure = make("figure", {class: `panel${channel === null ? " severity" : ""}${axis ? " timed" : ""}`},
    make("figcaption", {}, name, about, read), canvas, summary);
  return {channel, axis, figure, read, summary, chart: new Chart(canvas)};
}
