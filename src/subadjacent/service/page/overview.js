// The whole series in a strip: its severity, its alarms, and the segment that the charts show.

import {Chart, RIGHT} from "./chart.js";
import {binsOf, severityLimits} from "./charts.js";
import {byId, oncePerFrame} from "./dom.js";
import {spansOf} from "./spans.js";
import {color} from "./theme.js";
import {thin} from "./thinning.js";

const LEFT = 10;   // pixels left of the strip
const HIGHEST = 8;   // severity: higher peaks are cut off, so that the others can still be seen
const STILL = 4;   // pixels within which a drag is a click

export class Overview {
  constructor(view, charts) {
    this.view = view;
    this.charts = charts;
    this.canvas = byId("overview");
    this.chart = new Chart(this.canvas);
    this.drag = null;
    this.plan = oncePerFrame(() => this.draw());
    new ResizeObserver(this.plan).observe(this.canvas);
    this.canvas.addEventListener("pointerdown", event => this.start(event));
    this.canvas.addEventListener("pointermove", event => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) this.canvas.addEventListener(name, event => this.end(event));
  }

  get columns() { return this.view.columns; }

  share(event) {
    const box = this.canvas.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT)));
  }

  at(share) {
    const [start, end] = this.view.whole;
    return start + share * (end - start);
  }

  start(event) {
    if (event.button !== 0 || !this.columns?.length) return;
    this.canvas.setPointerCapture(event.pointerId);
    const at = this.at(this.share(event)), {from, to} = this.view;
    // within what is shown a drag moves it; beside it a drag chooses another segment
    const whole = to - from > 0.98 * (this.view.whole[1] - this.view.whole[0]);
    this.drag = {x: event.clientX, at, moves: !whole && at >= from && at <= to ? at - from : null};
  }

  move(event) {
    if (!this.drag || Math.abs(event.clientX - this.drag.x) <= STILL) return;
    const at = this.at(this.share(event)), {span} = this.view;
    if (this.drag.moves !== null) this.view.show(at - this.drag.moves, at - this.drag.moves + span);
    else this.view.show(Math.min(at, this.drag.at), Math.max(at, this.drag.at));
  }

  // a click leads there, as wide as before
  end(event) {
    const {drag} = this;
    this.drag = null;
    if (!drag || event.type === "pointercancel" || Math.abs(event.clientX - drag.x) > STILL) return;
    const {span} = this.view;
    this.view.show(drag.at - span / 2, drag.at + span / 2);
    this.charts.tap(drag.at);
  }

  draw() {
    const {columns, view, chart} = this;
    if (!columns?.length) return;
    const [from, to] = view.whole, {alarms, chosen} = this.charts, {severity} = columns;
    const starts = binsOf(columns, {from, to}, this.canvas.clientWidth - LEFT - RIGHT);
    const points = thin(columns.at, severity, starts, columns.gaps());
    chart.draw({
      columns, view: {from, to}, limits: severityLimits(points, HIGHEST), left: LEFT, threshold: 1,
      spans: spansOf(alarms, columns, chosen), lines: [{values: severity, points, role: "severity"}],
      pointer: -1, bare: true, axis: false,
    });
    this.window(from, to);
  }

  window(from, to) {
    const {paper} = this.chart, {clientWidth, clientHeight} = this.canvas;
    const x = at => LEFT + (at - from) / (to - from) * (clientWidth - LEFT - RIGHT);
    const left = x(Math.max(from, this.view.from)), wide = Math.max(3, x(Math.min(to, this.view.to)) - left);
    paper.fillStyle = color("range");
    paper.globalAlpha = 0.1;
    paper.fillRect(left, 1, wide, clientHeight - 2);
    paper.globalAlpha = 0.7;
    paper.strokeStyle = color("range");
    paper.lineWidth = 1;
    paper.strokeRect(left + 0.5, 1.5, wide - 1, clientHeight - 3);
    paper.globalAlpha = 1;
  }
}
