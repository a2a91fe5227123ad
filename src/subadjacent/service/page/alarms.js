// The list of alarms: what happened, since when, how bad, why; acknowledge and mark as normal. Repeats are
// folded under the first of their kind.

import {alarmPath, send} from "./api.js";
import {byId, make, oncePerFrame, say} from "./dom.js";
import {count, lasting, severity, timeOf, when} from "./format.js";
import {grouped, inKind, kindButton} from "./repeats.js";

const FULL = 6;   // severity at which the meter is full
const MOST = 200;   // alarms in the list

// the place of its sentence, which says of which alarm a button is for those who do not see it
const why = alarm => `why-${alarm.id}`;

// those that are open first, then the newest
function order(one, other) {
  const open = Number(other.state === "open") - Number(one.state === "open");
  return open || other.id - one.id;
}

const isWithdrawn = alarm => alarm.status === "withdrawn";
// over, not withdrawn, and nobody has acknowledged it
const isUnseen = alarm => alarm.state !== "open" && !alarm.acknowledged && !isWithdrawn(alarm);
// the same of all alarms of one kind, those of a series: the number of the first
// as in the report: a repeat that is told as something else stands by itself
const kindOf = alarm => [alarm.repeat_of ?? alarm.number, alarm.series, alarm.kind, alarm.causes?.[0]?.channel].join(" ");

export function lasted(alarm) {
  const [start, end] = [timeOf(alarm.start), timeOf(alarm.end)];
  if (start === null || end === null || end <= start) return count((alarm.last ?? alarm.first) - alarm.first + 1, "row");
  return lasting(end - start);
}

export class AlarmList {
  // onChoose(alarm, channel); failed(error) tells the reader
  constructor(onChoose, failed) {
    this.onChoose = onChoose;
    this.failed = failed;
    this.all = new Map();
    this.series = null;
    this.chosen = null;
    this.noting = null;   // the alarm whose note is being written
    this.unfolded = new Set();   // kinds whose repeats are shown
    this.cards = new Map();
    this.list = byId("alarm-list");
    this.plan = oncePerFrame(() => this.render());
    for (const scope of document.querySelectorAll("input[name=scope]")) scope.addEventListener("change", this.plan);
  }

  get everywhere() { return document.querySelector("input[name=scope]:checked").value === "all"; }

  add(alarms) {
    for (const alarm of alarms) this.all.set(alarm.id, {...this.all.get(alarm.id), ...alarm});
    this.plan();
  }

  // those of a series that was deleted
  remove(series) {
    for (const {id} of this.of(series)) this.all.delete(id);
    this.plan();
  }

  // how many alarms of each series are over, and nobody has acknowledged
  unseen() {
    const found = new Map();
    for (const alarm of this.all.values()) if (isUnseen(alarm)) found.set(alarm.series, (found.get(alarm.series) ?? 0) + 1);
    return found;
  }

  of(series) { return [...this.all.values()].filter(alarm => alarm.series === series); }
  // kinds in the order of their newest, or of those that are open; within each the first, then the newest
  get kinds() {
    const all = (this.everywhere ? [...this.all.values()] : this.of(this.series)).sort(order).slice(0, MOST);
    return [...grouped(all, kindOf)].map(([kind, some]) => {
      const first = some.reduce((one, other) => other.number < one.number ? other : one);
      return [kind, [first, ...some.filter(alarm => alarm !== first)]];
    });
  }
  get shown() { return this.kinds.flatMap(([, alarms]) => alarms); }

  watch(series) {
    this.series = series;
    this.plan();
  }

  choose(id) {
    this.chosen = id;
    if (this.all.has(id)) this.unfolded.add(kindOf(this.all.get(id)));
    this.plan();
  }

  // to the next alarm of the list, or the one before
  step(by) {
    const {shown} = this;
    if (!shown.length) return;
    const at = shown.findIndex(alarm => alarm.id === this.chosen);
    this.onChoose(shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : (at + by + shown.length) % shown.length]);
  }

  render() {
    const {shown} = this, cards = this.kinds.flatMap(([kind, alarms]) => this.listed(kind, alarms));
    for (const id of [...this.cards.keys()]) if (!this.all.has(id)) this.cards.delete(id);
    if (cards.some((card, i) => this.list.children[i] !== card) || this.list.children.length !== cards.length) {
      const focused = document.activeElement;
      this.list.replaceChildren(...cards);
      if (this.list.contains(focused)) focused.focus({preventScroll: true});
    }
    const [open, unseen, withdrawn] = [alarm => alarm.state === "open", isUnseen, isWithdrawn].map(is => shown.filter(is).length);
    const counts = [`${open} open, ${shown.length - open - withdrawn} closed`, unseen && `${unseen} unseen`, withdrawn && `${withdrawn} withdrawn`];
    say(byId("alarm-count"), shown.length ? counts.filter(Boolean).join(" · ") : "No alarms");
  }

  // the first of a kind, and its repeats where they are unfolded; those that are open are never hidden
  listed(kind, [first, ...repeats]) {
    const open = this.unfolded.has(kind), newest = repeats[0] ?? first;
    const text = repeats.length ? inKind(repeats.length + 1, when(first.start, first.first), when(newest.start, newest.first)) : "";
    return [this.card(first, {kind, text, open}), ...repeats.filter(one => open || one.state === "open").map(one => this.card(one))];
  }

  toggle(kind) {
    if (!this.unfolded.delete(kind)) this.unfolded.add(kind);
    this.render();
  }

  // made again only when something of it has changed: what the reader types or reads stays
  card(alarm, group = null) {
    const noting = this.noting === alarm.id, chosen = this.chosen === alarm.id;
    const key = JSON.stringify([alarm, noting, chosen, this.everywhere, group]);
    const known = this.cards.get(alarm.id);
    if (known?.dataset.key === key || known?.contains(document.activeElement) && noting && known.querySelector("form")) return known;
    const made = this.build(alarm, noting, chosen, group);
    made.dataset.key = key;
    this.cards.set(alarm.id, made);
    // who stood on a button of the old one stands on the same of the new one
    const action = known?.contains(document.activeElement) && document.activeElement.dataset.action;
    if (known?.isConnected) known.replaceWith(made);
    if (action) (made.querySelector(`[data-action="${action}"]`) ?? made.querySelector(".go")).focus({preventScroll: true});
    return made;
  }

  build(alarm, noting, chosen, group) {
    const meter = make("span", {class: "meter", "aria-hidden": "true"});
    meter.style.setProperty("--share", `${Math.min(100, 100 * alarm.severity / FULL)}%`);
    // what was marked as normal has been seen, and is normal for good
    const tags = alarm.normal ? ["marked as normal"] : [alarm.permanent && "permanent", alarm.acknowledged && "acknowledged"];
    const go = make("button", {class: "go", type: "button", "data-action": "go", onclick: () => this.onChoose(alarm)},
      this.everywhere ? make("span", {class: "entity"}, alarm.series) : null,
      make("b", {}, when(alarm.start, alarm.first)),
      make("span", {class: "quiet lasted"}, alarm.state === "open" ? `open, ${lasted(alarm)}` : lasted(alarm)));
    return make("li", {class: group ? "alarm-card" : "alarm-card repeat", "data-id": alarm.id, "data-state": alarm.state, "data-status": alarm.status, "aria-current": chosen && "true"},
      make("div", {class: "alarm-top"}, go, make("span", {class: "number"}, meter, make("span", {class: "hidden"}, "severity "), severity(alarm.severity))),
      make("p", {class: "sentence", id: why(alarm)}, alarm.sentence),
      this.causes(alarm),
      alarm.note ? make("p", {class: "note"}, `“${alarm.note}”`) : null,
      make("div", {class: "tags"}, make("span", {class: "tag status"}, alarm.status), ...tags.filter(Boolean).map(tag => make("span", {class: "tag"}, tag))),
      make("div", {class: "actions"}, ...this.actions(alarm, noting)),
      noting ? this.form(alarm) : null,
      group?.text ? kindButton(group.text, group.open, () => this.toggle(group.kind)) : null);
  }

  causes(alarm) {
    if (!alarm.causes?.length) return null;
    // a further channel in which nothing is to be seen has nothing to tell
    const told = alarm.causes.filter((cause, i) => !i || cause.kind !== "unusual");
    return make("div", {class: "causes"}, ...told.map((cause, i) => make("button",
      {class: "cause", type: "button", title: cause.sentence, "data-action": `cause-${i}`, onclick: () => this.onChoose(alarm, cause.channel)},
      make("b", {}, cause.channel), ` ${cause.kind}`)));
  }

  actions(alarm, noting) {
    const acts = [];
    if (!alarm.acknowledged && !noting) acts.push(make("button", {class: "act", type: "button", "data-action": "acknowledge", "aria-describedby": why(alarm), onclick: () => this.note(alarm)}, "Acknowledge"));
    if (!alarm.normal) acts.push(make("button", {class: "act", type: "button", "data-action": "normal", "aria-describedby": why(alarm), title: "Learns from its rows, so that the like of it does not alarm again", onclick: () => this.act(alarm, "/normal", {})}, "Mark as normal"));
    return acts;
  }

  form(alarm) {
    const note = make("input", {type: "text", maxlength: 500, placeholder: "A note, if you like", "aria-label": "Note"});
    const close = () => { this.noting = null; this.plan(); };
    return make("form", {class: "note-form", onsubmit: event => {
      event.preventDefault();
      this.noting = null;
      this.act(alarm, "/acknowledge", {note: note.value});
    }, onkeydown: event => {
      if (event.key === "Escape") { event.stopPropagation(); close(); }
    }}, note, make("button", {type: "submit", class: "primary", "data-action": "acknowledge"}, "Acknowledge"),
    make("button", {type: "button", onclick: close}, "Cancel"));
  }

  note(alarm) {
    this.noting = alarm.id;
    this.render();
    this.cards.get(alarm.id).querySelector("input").focus();
  }

  async act(alarm, rest, body) {
    try {
      this.add([await send("POST", alarmPath(alarm.id, rest), body)]);
    } catch (error) {
      this.failed(error);
      this.plan();
    }
  }
}
