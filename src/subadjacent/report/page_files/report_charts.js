// The charts of the report: channels of the chosen alarm and those that the reader adds, traces, and the severity.

import {Charts, panel} from "./charts.js";
import {byId, make} from "./dom.js";

// a chart with the values of the row pointed at in a corner of it
function chartOf(figure, options) {
  const made = panel(figure, options);
  figure.append(make("div", {class: "plot"}, made.chart.canvas, made.read));
  return made;
}

class PointedCharts extends Charts {
  readsExpected = true;

  // in the corner away from the pointer
  read() {
    super.read();
    const {stack, pointed, left, view} = this;
    stack.toggleAttribute("data-pointed", pointed !== null);
    stack.toggleAttribute("data-late", pointed > (view.from + view.to) / 2);
    stack.style.setProperty("--left", `${left}px`);
  }
}

export class ReportCharts extends PointedCharts {
  // page: the data of the report; onAlarm(span) is told which alarm was tapped on
  constructor(view, page, onAlarm) {
    super(byId("charts"), view);
    this.page = page;
    this.onAlarm = onAlarm;
    this.most = Number(this.stack.dataset.most);   // channels at once
    this.shown = [0];   // numbers of channels, from the top
    this.alarm = null;   // the chosen one
    this.add = byId("add");
    this.traces = [...this.stack.querySelectorAll("[data-panel]")].map(figure =>
      chartOf(figure, {key: figure.dataset.panel, name: figure.querySelector("b").textContent, axis: figure.matches(".severity")}));
    this.add?.addEventListener("change", () => this.jump(Number(this.add.value)));
  }

  // as finely as the view needs
  get columns() { return this.series?.piece(this.view); }

  show(series) {
    this.series = series;
    this.pointed = null;
    const {fitted, labels} = series.info;
    this.shades = [[fitted, "fitted"], [labels, "label"]].flatMap(([segments, role]) => segments.map(one => ({...series.span(one), role})));
  }

  // every alarm; those that are not in the table have no number
  get spans() {
    const {series} = this;
    return series.info.bands.map(([first, last, id]) => {
      const {from, to} = series.span([first, last]), alarm = this.page.alarms[id];
      return {id, first, last, from, until: to, to, chosen: id >= 0 && alarm === this.alarm, withdrawn: alarm?.status === "withdrawn"};
    });
  }

  mark(alarm) {
    this.alarm = alarm;
    this.arrange(alarm?.charts.length ? alarm.charts.map(one => one.channel) : this.shown);
    for (const {figure, key} of this.traces) figure.toggleAttribute("data-raised", key === alarm?.view);
  }

  causeOf(channel) { return this.alarm?.charts.find(one => one.channel === channel); }

  // the row that the sentence speaks of
  ring(channel) {
    const cause = this.causeOf(channel);
    return cause?.row === undefined ? undefined : {at: this.series.place(cause.row), value: cause.seen, low: cause.low, high: cause.high};
  }

  arrange(channels) {
    this.shown = channels.slice(0, this.most);
    const several = this.page.channels.length > 1;
    const made = this.shown.map((number, i) => {
      const name = this.page.channels[number];
      const words = make("span", {class: "words"}, make("b", {class: "name"}, name), " ", make("span", {class: "told"}, this.causeOf(number)?.told ?? ""));
      const figure = make("figure", {class: "channel", "data-channel": number, tabindex: -1, "aria-label": name}, make("figcaption", {}, words));
      const one = chartOf(figure, {key: number, name, axis: i === this.shown.length - 1});
      if (several) figure.firstChild.append(make("button", {
        class: "remove", type: "button", "aria-label": `Remove ${name}`, disabled: this.shown.length === 1, onclick: () => this.remove(number),
      }, "×"));
      return one;
    });
    byId("channels").replaceChildren(...made.map(one => one.figure));
    this.panels = [...made, ...this.traces];
    if (this.add) {
      this.add.value = "";
      this.add.disabled = this.shown.length === this.most;
      for (const option of this.add.options) option.disabled = option.value !== "" && this.shown.includes(Number(option.value));
    }
    this.plan();
  }

  remove(channel) {
    const at = this.shown.indexOf(channel);
    this.arrange(this.shown.filter(one => one !== channel));
    this.panels[Math.min(at, this.shown.length - 1)].figure.focus({preventScroll: true});
  }

  // to the chart of a channel, which is put below the others where it is not there
  jump(channel) {
    if (!this.shown.includes(channel)) this.arrange([...this.shown.slice(0, this.most - 1), channel]);
    const {figure} = this.panels[this.shown.indexOf(channel)];
    figure.focus({preventScroll: true});
    figure.scrollIntoView({block: "center"});
  }

  segmentText(first, last) {
    const {step, rows} = this.columns, every = step === 1 ? "every row" : `lowest and highest of every ${step} rows`;
    return `${super.segmentText(first, last)} · ${every}${this.fittedText(rows[first], rows[last])}`;
  }

  // whether the rows in view were fitted on
  fittedText(first, last) {
    const {fitted} = this.series.info;
    if (fitted.some(([from, to]) => from <= first && last < to)) return " · fitted on this part";
    return fitted.some(([from, to]) => from <= last && first < to) ? " · partly fitted on" : "";
  }
}

// the course of a training, a chart for each curve
export class CurveCharts extends PointedCharts {
  constructor(view, curves) {
    super(byId("curves"), view);
    const at = curves[0].values.map((_, i) => i + 1);
    const values = Object.fromEntries(curves.map((curve, i) => [`curve-${i}`, curve.values.map(one => one ?? NaN)]));
    this.columns = view.columns = {
      kind: "epoch", at, length: at.length, interval: 1, first: 1, last: at.length, gaps: () => () => false,
      nearest: place => Math.min(at.length, Math.max(1, Math.round(place))) - 1, lines: key => ({values: values[key]}),
    };
    this.spans = [];
    this.panels = [...this.stack.querySelectorAll("figure")].map((figure, i) => chartOf(figure, {key: `curve-${i}`, name: curves[i].label, axis: true}));
  }
}
