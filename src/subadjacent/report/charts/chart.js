// One chart on a canvas: grid and axes, the expected range, lines, alarms, and the row pointed at.

import {timeTicks, valueTicks} from "./axis.js";
import {color} from "./theme.js";

const AXIS_HEIGHT = 24;   // pixels below a chart for the times
export const RIGHT = 10;   // pixels left free beside a chart
const TOP = 8;   // and above it
const TICK_APART = {across: 56, up: 30};   // pixels, so that texts do not touch
const MOST_TICKS = 8;   // across: more would be clutter
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';
const HATCH = 7;   // pixels from one line of a hatching to the next
const MARKER = 5.5;   // pixels, half of a marker's width
const DENSE = 1500;   // points from which a line is thin and without dashes: it looks the same

export class Chart {
  constructor(canvas) {
    this.canvas = canvas;
    this.paper = canvas.getContext("2d");
    this.drawn = 0;   // points of all lines at the last drawing
  }

  // as large as the page gives it, in the pixels of the screen
  fit() {
    const {clientWidth, clientHeight} = this.canvas, ratio = devicePixelRatio || 1;
    const width = Math.round(clientWidth * ratio), height = Math.round(clientHeight * ratio);
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    this.paper.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paper.clearRect(0, 0, clientWidth, clientHeight);
    return [clientWidth, clientHeight];
  }

  // what: {columns, view, limits: [low, high], lines: [{values, points, role, dashed}], band: its points, threshold,
  // spans of alarms, shades: other segments, ring: {at, value, low, high} around a value, pointer: the row pointed at,
  // label: its time, left, axis: whether times stand below, bare: without any axis}
  draw(what) {
    const [width, height] = this.fit();
    if (width < 2 * RIGHT + what.left) return;
    this.drawn = 0;
    const {view: {from, to}, limits: [low, high]} = what;
    const box = this.box = {left: what.left, right: width - RIGHT, top: TOP, bottom: height - (what.axis ? AXIS_HEIGHT : 4)};
    const x = at => box.left + (at - from) / (to - from) * (box.right - box.left);
    const y = value => box.bottom - (value - low) / (high - low) * (box.bottom - box.top);
    if (!what.bare) this.axes(what, box, x, y);
    const {paper} = this;
    paper.save();
    paper.beginPath();
    paper.rect(box.left, 0, box.right - box.left, box.bottom);
    paper.clip();
    for (const shade of what.shades ?? []) this.shade(shade, box, x);
    this.spans(what, box, x);
    if (what.band) this.band(what, x, y);
    if (what.threshold !== undefined) this.across(y(what.threshold), box);
    for (const line of what.lines) this.line(line, x, y);
    if (what.ring) this.ring(what.ring, x, y);
    if (what.pointer >= 0) this.pointer(what, box, x, y);
    paper.restore();
  }

  axes({view: {from, to}, limits: [low, high], columns, axis}, box, x, y) {
    const {paper} = this;
    paper.font = FONT;
    paper.fillStyle = color("axis");
    paper.strokeStyle = color("grid");
    paper.lineWidth = 1;
    paper.textAlign = "right";
    paper.textBaseline = "middle";
    for (const [tick, text] of valueTicks(low, high, (box.bottom - box.top) / TICK_APART.up)) {
      const at = Math.round(y(tick)) + 0.5;
      paper.beginPath();
      paper.moveTo(box.left, at);
      paper.lineTo(box.right, at);
      paper.stroke();
      paper.fillText(text, box.left - 8, at);
    }
    if (!axis) return;
    paper.textAlign = "center";
    paper.textBaseline = "top";
    const most = Math.min(MOST_TICKS, (box.right - box.left) / TICK_APART.across);
    for (const [tick, text] of timeTicks(from, to, most, columns.kind)) {
      const half = paper.measureText(text).width / 2, at = x(tick);
      if (at - half < 0 || at + half > box.right + RIGHT) continue;
      paper.fillText(text, at, box.bottom + 8);
    }
  }

  // a segment of its own kind: labels are hatched, so that they differ from alarms without colour
  shade({from, to, role}, box, x) {
    const {paper} = this, left = Math.max(box.left, x(from)), right = Math.min(box.right, Math.max(x(to), x(from) + 1));
    if (right < left) return;
    const high = box.bottom - box.top;
    paper.fillStyle = paper.strokeStyle = color(role);
    paper.globalAlpha = role === "label" ? 0.06 : 0.1;
    paper.fillRect(left, box.top, right - left, high);
    if (role === "label") {
      paper.save();
      paper.beginPath();
      paper.rect(left, box.top, right - left, high);
      paper.clip();
      paper.globalAlpha = 0.4;
      paper.lineWidth = 1;
      paper.beginPath();
      for (let at = left - left % HATCH - high; at < right; at += HATCH) {
        paper.moveTo(at, box.bottom);
        paper.lineTo(at + high, box.top);
      }
      paper.stroke();
      paper.restore();
    }
    paper.globalAlpha = 1;
  }

  spans({spans}, box, x) {
    const {paper} = this;
    for (const {from, until, to, chosen, withdrawn} of spans) {
      const left = x(from), wide = Math.max(2, x(to) - left), high = box.bottom - box.top;
      if (left > box.right || left + wide < box.left) continue;
      paper.fillStyle = color(withdrawn ? "muted" : "alarm");
      paper.globalAlpha = chosen ? 0.22 : 0.13;
      paper.fillRect(left, box.top, Math.max(2, x(until) - left), high);
      // open, but nothing is wrong any more
      paper.globalAlpha = 0.05;
      if (to > until) paper.fillRect(x(until), box.top, x(to) - x(until), high);
      paper.globalAlpha = chosen ? 0.9 : 0.55;
      paper.fillRect(left, box.top, wide, 2);
      paper.globalAlpha = 1;
    }
  }

  band({band: points}, x, y) {
    const {paper} = this, fill = color("usual");
    this.drawn += points.length / 3;
    let start = 0;
    paper.fillStyle = paper.strokeStyle = fill;
    paper.lineWidth = 1;
    const piece = end => {
      if (end - start < 6) return;
      const [low, high] = [new Path2D(), new Path2D()];
      for (let i = start; i < end; i += 3) high.lineTo(x(points[i]), y(points[i + 2]));
      for (let i = end - 3; i >= start; i -= 3) low.lineTo(x(points[i]), y(points[i + 1]));
      const area = new Path2D(high);
      for (let i = end - 3; i >= start; i -= 3) area.lineTo(x(points[i]), y(points[i + 1]));
      paper.globalAlpha = 0.22;
      paper.fill(area);
      // edges, since no shade is both light enough for what is on it and clear of the page
      paper.globalAlpha = 0.6;
      for (const edge of [low, high]) paper.stroke(edge);
      paper.globalAlpha = 1;
    };
    for (let i = 0; i < points.length; i += 3) {
      if (!Number.isNaN(points[i + 1])) continue;
      piece(i);
      start = i + 3;
    }
    piece(points.length);
  }

  across(at, box) {
    const {paper} = this;
    paper.strokeStyle = color("threshold");
    paper.lineWidth = 1.25;
    paper.setLineDash([5, 4]);
    paper.beginPath();
    paper.moveTo(box.left, at);
    paper.lineTo(box.right, at);
    paper.stroke();
    paper.setLineDash([]);
  }

  line({points, role, dashed}, x, y) {
    const {paper} = this, dense = points.length / 2 > DENSE;
    this.drawn += points.length / 2;
    paper.strokeStyle = color(role);
    paper.lineWidth = dense ? 1 : 1.5;
    paper.lineJoin = "round";
    paper.setLineDash(dashed && !dense ? [5, 3] : []);
    paper.beginPath();
    let pen = false;
    for (let i = 0; i < points.length; i += 2) {
      if (Number.isNaN(points[i + 1])) { pen = false; continue; }
      const at = x(points[i]), value = y(points[i + 1]);
      if (pen) paper.lineTo(at, value); else paper.moveTo(at, value);
      // a point between two gaps would be a line of no length
      if (!pen && !(points[i + 3] === points[i + 3])) paper.lineTo(at + 1, value);
      pen = true;
    }
    paper.stroke();
    paper.setLineDash([]);
  }

  // a triangle above each alarm, which may itself be thinner than a pixel
  markers(spans, x) {
    const {paper, box} = this;
    for (const {from, to, chosen, withdrawn} of spans) {
      const at = x((from + to) / 2);
      paper.fillStyle = color(withdrawn ? "muted" : "alarm");
      paper.globalAlpha = chosen ? 1 : 0.75;
      paper.beginPath();
      paper.moveTo(at - MARKER, box.top - 7);
      paper.lineTo(at + MARKER, box.top - 7);
      paper.lineTo(at, box.top + 3);
      paper.fill();
      paper.globalAlpha = 1;
    }
  }

  // the value that a sentence speaks of, beside the range that it gives where that is not the band
  ring({at, value, low, high}, x, y) {
    const {paper} = this;
    if (Number.isFinite(low)) {
      paper.strokeStyle = color("expected");
      paper.globalAlpha = 0.55;
      paper.lineWidth = 5;
      paper.beginPath();
      paper.moveTo(x(at), y(low));
      paper.lineTo(x(at), y(high));
      paper.stroke();
      paper.globalAlpha = 1;
    }
    paper.strokeStyle = color("alarm");
    paper.lineWidth = 2;
    paper.beginPath();
    paper.arc(x(at), y(value), 5, 0, 2 * Math.PI);
    paper.stroke();
  }

  pointer({columns, pointer, lines, label}, box, x, y) {
    const {paper} = this, at = Math.round(x(columns.at[pointer])) + 0.5;
    paper.strokeStyle = color("muted");
    paper.lineWidth = 1;
    paper.beginPath();
    paper.moveTo(at, box.top);
    paper.lineTo(at, box.bottom);
    paper.stroke();
    for (const {values, role} of lines) {
      if (!Number.isFinite(values[pointer])) continue;
      paper.fillStyle = color(role);
      paper.beginPath();
      paper.arc(at, y(values[pointer]), 3.5, 0, 2 * Math.PI);
      paper.fill();
    }
    if (!label) return;
    // beside the line, where there is room
    paper.font = FONT;
    const wide = paper.measureText(label).width + 10, left = at + wide + 6 > box.right ? at - wide - 6 : at + 6;
    paper.globalAlpha = 0.85;
    paper.fillStyle = color("card");
    paper.fillRect(left, box.bottom - 19, wide, 17);
    paper.globalAlpha = 1;
    paper.fillStyle = color("ink");
    paper.textAlign = "left";
    paper.textBaseline = "middle";
    paper.fillText(label, left + 5, box.bottom - 10);
  }

  // pixels that the numbers along the axis of values take
  static room(limits, height, paper) {
    paper.font = FONT;
    const ticks = valueTicks(...limits, (height - TOP) / TICK_APART.up);
    return Math.ceil(Math.max(0, ...ticks.map(([, text]) => paper.measureText(text).width))) + 14;
  }
}
