// The series and how each of them is, the worst first; a filter; arrow keys.

import {byId, make, notOften, say} from "./dom.js";
import {MINUTE, count, lasting, severity, timeOf} from "./format.js";
import {headline} from "./headline.js";

const ORDER = ["alarm", "learning", "calm", "muted"];   // the worst first
const MOST = 300;   // rows of the list: beyond, the filter finds them
const RENDER_EVERY = 200;   // milliseconds: a thousand series may each have a row a second
const byName = new Intl.Collator("en", {numeric: true}).compare;

// among alarms the worst first; the others by name, so that a calm list stands still
export function worstFirst(one, other) {
  const apart = ORDER.indexOf(one.state) - ORDER.indexOf(other.state);
  if (apart) return apart;
  const worse = one.state === "alarm" ? (other.severity ?? 0) - (one.severity ?? 0) : 0;
  return worse || byName(one.name, other.name);
}

export function inWords(series, now = Date.now()) {
  if (series.state === "alarm") return `Alarm · severity ${severity(series.severity)}`;
  if (series.state === "learning") return `Learning · ${Math.floor(100 * (series.warm_up ?? 0))} %`;
  if (series.state !== "muted") return series.unseen ? `Calm · ${count(series.unseen, "unseen alarm")}` : "Calm";
  // how long is the same in every time zone
  const left = Math.ceil((timeOf(series.muted_until) - now) / MINUTE) * MINUTE;
  return left > 0 ? `Muted · ${lasting(left)} left` : "Muted";
}

export class SeriesList {
  // alarms: those that are known
  constructor(onChoose, alarms) {
    this.onChoose = onChoose;
    this.alarms = alarms;
    this.all = new Map();
    this.chosen = null;
    this.list = byId("series-list");
    this.filter = byId("filter");
    this.items = new Map();
    this.plan = notOften(() => this.render(), RENDER_EVERY);
    this.filter.addEventListener("input", () => this.render());
    this.filter.addEventListener("keydown", event => this.filterKeys(event));
    this.list.addEventListener("click", event => {
      const item = event.target.closest("[data-name]");
      if (item) onChoose(item.dataset.name);
    });
    this.list.addEventListener("keydown", event => this.keys(event));
  }

  set(all) {
    this.all = new Map(all.map(one => [one.name, one]));
    this.plan();
  }

  update(one) {
    this.all.set(one.name, {...this.all.get(one.name), ...one});
    this.plan();
  }

  remove(name) {
    this.all.delete(name);
    this.plan();
  }

  // as bad as its open alarm, which has its worst row; the last row may be a better one
  told(one, unseen = this.alarms.unseen()) {
    return {...one, severity: this.alarms.all.get(one.open_alarm)?.severity ?? one.severity, unseen: unseen.get(one.name)};
  }

  get sorted() {
    const unseen = this.alarms.unseen();
    return [...this.all.values()].map(one => this.told(one, unseen)).sort(worstFirst);
  }

  shown() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = one => `${one.name} ${one.state} ${one.unseen ? "unseen" : ""} ${(one.channels ?? []).join(" ")}`.toLowerCase();
    return this.sorted.filter(one => words.every(word => text(one).includes(word)));
  }

  choose(name) {
    this.chosen = name;
    this.render();
    this.reveal(this.items.get(name));
  }

  // scrolls the list alone: the reader stays where they are on the page
  reveal(item) {
    if (!item?.isConnected) return;
    const [box, own] = [this.list, item].map(node => node.getBoundingClientRect());
    if (own.top < box.top) this.list.scrollTop -= box.top - own.top;
    else if (own.bottom > box.bottom) this.list.scrollTop += own.bottom - box.bottom;
  }

  render() {
    const shown = this.shown(), listed = shown.slice(0, MOST);
    for (const name of [...this.items.keys()]) if (!this.all.has(name)) this.items.delete(name);
    const nodes = listed.map(one => this.item(one));
    // the one that the tab key leads to: the chosen one, else the first
    const current = nodes.find(node => node.dataset.name === this.chosen) ?? nodes[0];
    for (const node of nodes) node.tabIndex = node === current ? 0 : -1;
    const focused = document.activeElement;
    if (nodes.some((node, i) => this.list.children[i] !== node) || this.list.children.length !== nodes.length) {
      this.list.replaceChildren(...nodes);
      if (nodes.includes(focused)) focused.focus({preventScroll: true});
    }
    const all = this.sorted, alarms = all.filter(one => one.state === "alarm").length;
    say(byId("headline"), headline(all, [...this.alarms.all.values()]));
    const known = alarms ? `(${alarms}) subadjacent` : "subadjacent";
    document.title = document.documentElement.dataset.lost ? "No connection · subadjacent" : known;
    const left = shown.length - listed.length;
    const none = this.all.size ? "No series fits the filter" : "";
    say(byId("listed"), !shown.length ? none : left ? `${count(left, "more", "more")}: the filter finds them` : "");
  }

  item(one) {
    let node = this.items.get(one.name);
    if (!node) {
      node = make("li", {role: "option", "data-name": one.name},
        make("span", {class: "dot", "aria-hidden": "true"}),
        make("span", {class: "series-name"}, one.name), make("span", {class: "state quiet"}));
      this.items.set(one.name, node);
    }
    node.dataset.state = one.state;
    node.setAttribute("aria-selected", String(one.name === this.chosen));
    say(node.querySelector(".state"), inWords(one));
    return node;
  }

  filterKeys(event) {
    if (event.key === "Escape") {
      this.filter.value = "";
      this.render();
    } else if (event.key === "ArrowDown" || event.key === "Enter") {
      const [first] = this.list.children;
      first?.focus();
      if (first) this.onChoose(first.dataset.name);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  keys(event) {
    const item = event.target.closest("[data-name]");
    if (!item) return;
    const to = {ArrowDown: item.nextElementSibling, ArrowUp: item.previousElementSibling,
      Home: this.list.firstElementChild, End: this.list.lastElementChild, Enter: item, " ": item}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (!to) return;
    to.focus();
    to.scrollIntoView({block: "nearest"});
    this.onChoose(to.dataset.name);
  }
}
