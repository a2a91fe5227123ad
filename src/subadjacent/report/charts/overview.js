// The whole series in a strip: its severity, its alarms, and the segment that the charts show.

import {Chart, RIGHT} from "./chart.js";
import {SEVERITY, binsOf, severityLimits, spanAt} from "./charts.js";
import {byId, oncePerFrame} from "./dom.js";
import {color} from "./theme.js";
import {thin} from "./thinning.js";

const STILL = 4;   // pixels within which a drag is a click
const NEAR = 7;   // pixels beside an alarm that count as its own: a marker is wider than many of them

export class Overview {
  // look: {left(), columns(), highest: severity above which peaks are cut off, and whether bare, with an axis, and with markers}
  constructor(view, charts, look) {
    this.view = view;
    this.charts = charts;
    this.look = look;
    this.canvas = byId("overview");
    this.chart = new Chart(this.canvas);
    this.drag = null;
    this.plan = oncePerFrame(() => this.draw());
    new ResizeObserver(this.plan).observe(this.canvas);
    this.canvas.addEventListener("pointerdown", event => this.start(event));
    this.canvas.addEventListener("pointermove", event => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) this.canvas.addEventListener(name, event => this.end(event));
  }

  get columns() { return this.look.columns(); }
  get width() { return this.canvas.clientWidth - this.look.left() - RIGHT; }

  at(event) {
    const [start, end] = this.view.whole, box = this.canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - this.look.left()) / this.width;
    return start + Math.min(1, Math.max(0, share)) * (end - start);
  }

  start(event) {
    if (event.button !== 0 || !this.columns?.length) return;
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.at(event), {from, to} = this.view;
    // within what is shown a drag moves it; beside it a drag chooses another segment
    const whole = to - from > 0.98 * (this.view.whole[1] - this.view.whole[0]);
    this.drag = {x: event.clientX, at, moves: !whole && at >= from && at <= to ? at - from : null};
  }

  move(event) {
    if (!this.drag || Math.abs(event.clientX - this.drag.x) <= STILL) return;
    const at = this.at(event), {span} = this.view;
    if (this.drag.moves !== null) this.view.show(at - this.drag.moves, at - this.drag.moves + span);
    else this.view.show(Math.min(at, this.drag.at), Math.max(at, this.drag.at));
  }

  // a click on an alarm chooses it; beside one it leads there, as wide as before
  end(event) {
    const {drag} = this;
    this.drag = null;
    if (!drag || event.type === "pointercancel" || Math.abs(event.clientX - drag.x) > STILL) return;
    const {span, whole: [from, to]} = this.view;
    const hit = spanAt(this.charts.spans, drag.at, NEAR * (to - from) / this.width);
    if (hit) this.charts.onAlarm(hit);
    else this.view.show(drag.at - span / 2, drag.at + span / 2);
  }

  draw() {
    const {columns, chart, look} = this;
    if (!columns?.length) return;
    const [from, to] = this.view.whole, {values} = columns.lines(SEVERITY), {spans, shades} = this.charts;
    const points = thin(columns.at, values, binsOf(columns, {from, to}, this.width), columns.gaps());
    chart.draw({
      columns, view: {from, to}, limits: severityLimits(points, look.highest), left: look.left(), threshold: 1,
      spans, shades, lines: [{values, points, role: SEVERITY}], pointer: -1,
      bare: look.bare, axis: look.axis,
    });
    this.window(from, to);
  }

  window(from, to) {
    const {paper, box} = this.chart, x = at => box.left + (at - from) / (to - from) * (box.right - box.left);
    const left = x(Math.max(from, this.view.from)), wide = Math.max(3, x(Math.min(to, this.view.to)) - left);
    paper.fillStyle = color("range");
    paper.globalAlpha = 0.1;
    paper.fillRect(left, 1, wide, box.bottom - 1);
    paper.globalAlpha = 0.7;
    paper.strokeStyle = color("range");
    paper.lineWidth = 1;
    paper.strokeRect(left + 0.5, 1.5, wide - 1, box.bottom - 2);
    paper.globalAlpha = 1;
    if (this.look.markers) this.chart.markers(this.charts.spans, x);
  }
}
