// One chart on a canvas: grid and axes, what is usual, lines, alarms, and the place pointed at.

import {timeTicks, valueTicks} from "./axis.js";
import {color} from "./theme.js";

export const AXIS_HEIGHT = 24;   // pixels below a chart for the times
export const RIGHT = 10;   // pixels left free beside a chart
const TOP = 8;   // and above it
const TICK_APART = {across: 56, up: 30};   // pixels, so that texts do not touch
const MOST_TICKS = 8;   // across: more would be clutter
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';
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

  // what: {columns, view, limits: [low, high], lines: [{values, points, role, dashed}], band: points
  // of it, threshold, spans, pointer, left, axis: whether times stand below, bare: without any axis}
  draw(what) {
    const [width, height] = this.fit();
    if (width < 2 * RIGHT + what.left) return;
    this.drawn = 0;
    const {view: {from, to}, limits: [low, high]} = what;
    const box = {left: what.left, right: width - RIGHT, top: TOP, bottom: height - (what.axis ? AXIS_HEIGHT : 4)};
    const x = at => box.left + (at - from) / (to - from) * (box.right - box.left);
    const y = value => box.bottom - (value - low) / (high - low) * (box.bottom - box.top);
    if (!what.bare) this.axes(what, box, x, y);
    const {paper} = this;
    paper.save();
    paper.beginPath();
    paper.rect(box.left, 0, box.right - box.left, box.bottom);
    paper.clip();
    this.spans(what, box, x);
    if (what.band) this.band(what, x, y);
    if (what.threshold !== undefined) this.across(y(what.threshold), box);
    for (const line of what.lines) this.line(line, x, y);
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

  spans({spans}, box, x) {
    const {paper} = this;
    for (const {from, until, to, chosen} of spans) {
      const left = x(from), wide = Math.max(2, x(to) - left), high = box.bottom - box.top;
      if (left > box.right || left + wide < box.left) continue;
      paper.fillStyle = color("alarm");
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
    const piece = end => {
      if (end - start < 6) return;
      paper.beginPath();
      for (let i = start; i < end; i += 3) paper.lineTo(x(points[i]), y(points[i + 2]));
      for (let i = end - 3; i >= start; i -= 3) paper.lineTo(x(points[i]), y(points[i + 1]));
      paper.closePath();
      paper.globalAlpha = 0.22;
      paper.fillStyle = fill;
      paper.fill();
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

  pointer({columns, pointer, lines}, box, x, y) {
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
  }

  // pixels that the numbers along the axis of values take
  static room(limits, height, paper) {
    paper.font = FONT;
    const ticks = valueTicks(...limits, (height - TOP) / TICK_APART.up);
    return Math.ceil(Math.max(0, ...ticks.map(([, text]) => paper.measureText(text).width))) + 14;
  }
}
