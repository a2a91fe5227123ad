// Charts below each other on one axis: what each of them draws, and the row that is pointed at.

import {roundLimits} from "./axis.js";
import {Chart, RIGHT} from "./chart.js";
import {byId, make, oncePerFrame, say, settled} from "./dom.js";
import {count, number, place, severity, stepOf} from "./format.js";
import {listen} from "./gestures.js";
import {bins, extremes, inView, thin, thinBand, within} from "./thinning.js";

export const SEVERITY = "severity";   // key of the chart that has the threshold
const NEAR_ZERO = 0.5;   // share of the highest value below which an axis begins at zero
const ROWS_PER_COLUMN = 2;   // above this the expected values of a column of pixels are within its band
const TAP = 4;   // pixels beside an alarm that count as its own
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

// a span of alarms that covers a place, or is nearer to it than that
export const spanAt = (spans, at, near) => spans.find(one => at >= one.from - near && at <= one.to + near);

// puts a chart below the caption of a figure, the values of a row into the caption, and a sentence beside both
export function panel(figure, {key, name, axis = false}) {
  const id = `summary-${key}`;
  const canvas = make("canvas", {role: "img", "aria-label": `Chart of ${name}`, "aria-describedby": id});
  const read = make("span", {class: "read number"}), summary = make("span", {class: "hidden", id});
  figure.classList.add("panel");
  figure.classList.toggle("timed", axis);
  figure.querySelector("figcaption").append(read);
  figure.append(canvas, summary);
  return {key, name, axis, figure, read, summary, chart: new Chart(canvas)};
}

// What a page adds: panels, columns, spans, onAlarm, and where it differs channelRange, ring, shades, readsExpected, segmentText.
// Columns: {kind, at, length, interval, gaps(), nearest(at), lines(key) gives {values, expected, low, high}}
export class Charts {
  constructor(stack, view) {
    this.stack = stack;
    this.view = view;
    this.panels = [];
    this.pointed = null;   // place along the axis, where there is a pointer
    this.hovered = null;   // the canvas below it
    this.left = 0;
    this.shades = [];
    this.plan = oncePerFrame(() => this.draw());
    this.describe = settled(() => this.tell(), SETTLES);
    listen(stack, view, {
      at: event => this.placeOf(event),
      width: () => stack.clientWidth - this.left - RIGHT,
      point: (at, event) => this.point(at, event?.target),
      tap: at => this.tap(at),
    });
    new ResizeObserver(this.plan).observe(stack);
  }

  // limits of a channel's axis, from those of its values and of its expected range
  channelRange(values, range) {
    return [Math.min(values[0], range[0]), Math.max(values[1], range[1])];
  }

  ring() { return undefined; }
  segmentText(first, last) {
    const {at, kind} = this.columns;
    return [first, last].map(one => place(at[one], kind)).join(" to ");
  }

  // what a chart draws: limits of its values, lines and band
  content({key}, starts) {
    const {columns} = this, gaps = columns.gaps(), {values, expected, low, high} = columns.lines(key);
    const line = (some, role, dashed = false) => ({values: some, role, dashed, points: thin(columns.at, some, starts, gaps)});
    if (!low) {
      const severe = key === SEVERITY, one = line(values, severe ? SEVERITY : "trace");
      if (severe) return {limits: severityLimits(one.points), threshold: 1, lines: [one]};
      const [least, most] = extremes(one.points, [1, one.points.length], 2);
      return {limits: roundLimits(least >= 0 && least < NEAR_ZERO * most ? 0 : least, most), lines: [one]};
    }
    const seen = line(values, "seen"), band = thinBand(columns.at, low, high, starts, gaps), ring = this.ring(key);
    const crowded = starts.at(-1) - starts[0] > ROWS_PER_COLUMN * starts.length;
    const [least] = extremes(band, [1, band.length], 3), [, most] = extremes(band, [2, band.length], 3);
    const [from, to] = this.channelRange(extremes(seen.points, [1, seen.points.length], 2), [least, most]);
    const marked = ring ? [ring.value, ring.low, ring.high].filter(Number.isFinite) : [];
    return {
      limits: roundLimits(Math.min(from, ...marked), Math.max(to, ...marked)), band, ring,
      lines: expected && !crowded ? [line(expected, "expected", true), seen] : [seen],
    };
  }

  // the row pointed at, in the columns that are drawn
  get pointer() { return this.pointed === null || !this.columns?.length ? -1 : this.columns.nearest(this.pointed); }

  draw() {
    const {columns, view, pointer} = this;
    if (!columns?.length) return;
    const {spans, shades} = this, label = pointer < 0 ? "" : place(columns.at[pointer], columns.kind);
    const starts = binsOf(columns, view, this.stack.clientWidth - this.left - RIGHT);
    for (const one of this.panels) {
      one.content = this.content(one, starts);
      // the same room for all of them, which only grows: rows stand exactly below each other
      this.left = Math.max(this.left, Chart.room(one.content.limits, one.chart.canvas.clientHeight, one.chart.paper));
    }
    for (const {chart, axis, content} of this.panels) {
      chart.draw({columns, view, spans, shades, axis, pointer, left: this.left, label: chart.canvas === this.hovered ? label : "", ...content});
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
    const {columns, pointer} = this, [first, last] = this.edges(), row = pointer < 0 ? last : pointer;
    for (const {key, read, content} of this.panels) {
      const {values, expected, low, high} = columns.lines(key), [from, to] = content.limits;
      if (key === SEVERITY) { say(read, severity(values[row])); continue; }
      const step = stepOf(to - from), texts = [number(values[row], step)];
      // as sentences say it: "expected 3 to 5"
      const parts = [];
      if (this.readsExpected && Number.isFinite(expected?.[row])) parts.push(number(expected[row], step));
      if (Number.isFinite(low?.[row])) {
        const [least, most] = [number(low[row], step), number(high[row], step)];
        if (least !== most) parts.push(`${parts.length ? "from " : ""}${least} to ${most}`);
        else if (!parts.length) parts.push(least);
      }
      if (parts.length) texts.push(`expected ${parts.join(", ")}`);
      say(read, texts.join(" · "));
    }
    if (byId("pointed")) say(byId("pointed"), pointer < 0 ? "" : place(columns.at[row], columns.kind));
    if (byId("segment")) say(byId("segment"), this.segmentText(first, last));
  }

  // every chart in a sentence, for those who do not see it
  tell() {
    const {columns, view} = this;
    if (!columns?.length) return;
    const [first, last] = this.edges(), segment = this.segmentText(first, last);
    const alarms = this.spans.filter(one => one.to >= view.from && one.from <= view.to).length;
    for (const {key, name, chart, summary} of this.panels) {
      const {values} = columns.lines(key);
      const [low, high] = extremes(values, [first, last + 1]), written = key === SEVERITY ? severity : number;
      const text = low > high ? "no values" : `lowest ${written(low)}, highest ${written(high)}, last ${written(values[last])}`;
      say(summary, `${name}, ${segment}: ${text}; ${count(alarms, "alarm")} in view.`);
      chart.canvas.dataset.points = chart.drawn;
    }
  }

  // where along the axis something happened
  placeOf(event) {
    const box = this.stack.getBoundingClientRect(), {from, to} = this.view;
    const share = (event.clientX - box.left - this.left) / (box.width - this.left - RIGHT);
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  }

  point(at, canvas = null) {
    this.pointed = at;
    this.hovered = canvas;
    this.plan();
  }

  // to the row before or after the one that is read
  step(by) {
    const {columns, view} = this;
    if (!columns?.length) return;
    const row = this.pointed === null ? columns.nearest(view.to) : this.pointer + by;
    const at = columns.at[Math.min(columns.length - 1, Math.max(0, row))];
    if (at < view.from || at > view.to) view.show(at - view.span / 2, at + view.span / 2);
    this.point(at, this.hovered);
  }

  tap(at) {
    const hit = spanAt(this.spans, at, TAP * this.view.span / this.stack.clientWidth);
    if (hit && !hit.chosen) this.onAlarm(hit);
  }
}
