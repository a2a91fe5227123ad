// The charts of the series that is watched: its severity, then its channels, those of the chosen alarm first.

import {Charts, SEVERITY, panel} from "./charts.js";
import {byId, make} from "./dom.js";
import {count} from "./format.js";
import {spansOf} from "./spans.js";

const AT_FIRST = 5;   // channels that are drawn before the reader asks for all
const BESIDE = 0.5;   // of what the values span that a band may go beyond them before it is cut off

export class LiveCharts extends Charts {
  // onAlarm(span) is told which alarm was tapped on
  constructor(view, onAlarm) {
    super(byId("charts"), view);
    this.onAlarm = onAlarm;
    this.columns = null;
    this.alarms = [];
    this.chosen = null;
    this.all = false;
    byId("more-channels").addEventListener("click", () => { this.all = !this.all; this.arrange(); });
  }

  get spans() { return spansOf(this.alarms, this.columns, this.chosen); }

  show(columns) {
    this.columns = columns;
    this.pointed = null;
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

  // a series that still learns has wide bands
  channelRange([low, high], [least, most]) {
    const beside = BESIDE * (high - low || Math.abs(high) * 0.1 || 1);
    return [Math.min(low, Math.max(least, low - beside)), Math.max(high, Math.min(most, high + beside))];
  }

  // those of the chosen alarm first
  channels() {
    const {channels} = this.columns;
    const causes = (this.chosen?.causes ?? []).map(cause => cause.channel).filter(name => channels.includes(name));
    const ordered = [...new Set([...causes, ...channels])];
    return this.all ? ordered : ordered.slice(0, Math.max(AT_FIRST, Math.min(causes.length, 2 * AT_FIRST)));
  }

  arrange() {
    const shown = this.channels(), many = this.columns.channels.length;
    const caption = (name, about = null) => make("figcaption", {}, make("b", {class: "name"}, name), about);
    const top = make("figure", {class: "severity"}, caption("Severity", make("span", {class: "quiet about-severity"}, "1 opens an alarm")));
    this.panels = [panel(top, {key: SEVERITY, name: "Severity", axis: true}), ...shown.map((channel, i) =>
      panel(make("figure", {}, caption(channel)), {key: this.columns.channels.indexOf(channel), name: channel, axis: i === shown.length - 1}))];
    this.stack.replaceChildren(...this.panels.map(one => one.figure));
    const more = byId("more-channels");
    more.hidden = many <= AT_FIRST;
    more.textContent = this.all ? "Show fewer channels" : `Show all ${count(many, "channel")}`;
    this.plan();
  }

  // leads to the chart of a channel
  reveal(channel) {
    if (!this.panels.some(one => one.name === channel && one.key !== SEVERITY)) {
      this.all = true;
      this.arrange();
    }
    this.panels.find(one => one.name === channel && one.key !== SEVERITY)?.figure.scrollIntoView({block: "nearest"});
  }
}
