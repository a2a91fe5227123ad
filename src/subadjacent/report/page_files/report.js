// What the reader does, and what the report shows for it.

import {byId, oncePerFrame, say} from "./dom.js";
import {drawAttention} from "./attention.js";
import {Overview} from "./overview.js";
import {grouped, inKind, kindButton} from "./repeats.js";
import {CurveCharts, ReportCharts} from "./report_charts.js";
import {Series} from "./series.js";
import {onPaint, setTheme, startTheme, theme, turn} from "./theme.js";
import {View} from "./view.js";

const data = JSON.parse(byId("payload").textContent);
const all = data.series.map((_, number) => new Series(data, number));
const view = new View(redraw);
const charts = new ReportCharts(view, data, span => span.id < 0 ? look(span.first, span.last, data.window) : choose(span.id));
const overview = new Overview(view, charts, {left: () => charts.left, columns: () => charts.series?.pieces[0], axis: true, markers: true});
const drawMatrix = oncePerFrame(() => drawAttention(matrix, data));
const rows = [...document.querySelectorAll("#alarm-table tbody tr")];
const kinds = [...grouped(rows, row => data.alarms[row.dataset.alarm].head).values()];
const unfolded = new Set();   // kinds whose repeats are shown
let current = -1, matrix = data.attention[0];

function redraw() {
  charts.plan();
  // after the charts, whose numbers say how far in it begins
  overview.plan();
}

// rows, and as many as the margin to either side
function look(first, last, margin) {
  const {from, to} = charts.series.span([first - margin, last + margin]);
  view.show(from, to);
}

function chooseSeries(number) {
  if (charts.series === all[number]) return;
  if (byId("entity")) byId("entity").value = String(number);
  charts.show(all[number]);
  view.columns = all[number];
  view.all();
}

// an alarm by its number in the table, and the chart of one of its channels
function choose(number, channel) {
  const alarm = data.alarms[number];
  if (!alarm) return;
  chooseSeries(alarm.series);
  mark(number);
  look(alarm.first, alarm.last + 1, alarm.margin);
  matrix = data.attention.find(one => one.alarm === number) ?? matrix;
  drawMatrix();
  if (channel !== undefined) charts.jump(channel);
}

// repeats below the first of their kind, where that is open
function fold(kind, open) {
  const [first, ...repeats] = kind;
  if (open) unfolded.add(kind); else unfolded.delete(kind);
  first.querySelector(".kind").setAttribute("aria-expanded", String(open));
  for (const row of repeats) row.hidden = !open;
}

function startKinds() {
  for (const kind of kinds.filter(one => one.length > 1)) {
    const [first, last] = [kind[0], kind.at(-1)].map(row => data.alarms[row.dataset.alarm].when);
    kind[0].querySelector(".when").append(kindButton(inKind(kind.length, first, last), false, () => fold(kind, !unfolded.has(kind))));
    for (const row of kind.slice(1)) row.classList.add("repeat");
    fold(kind, false);
  }
}

function mark(number) {
  current = number;
  const alarm = data.alarms[number] ?? null;
  charts.mark(alarm);
  overview.plan();
  say(byId("detail-title"), alarm ? `Alarm ${number + 1} of ${data.alarms.length}: ${alarm.sentence}` : "Detail");
  document.querySelector("tr[aria-current]")?.removeAttribute("aria-current");
  const row = document.querySelector(`tr[data-alarm="${number}"]`), kind = kinds.find(one => one.includes(row));
  if (row?.hidden) fold(kind, true);
  row?.setAttribute("aria-current", "true");
  if (row) keepInSight(row);
}

// within the table only: the page itself stays where the reader left it
function keepInSight(row) {
  const box = row.closest(".scroll"), inner = box.getBoundingClientRect(), outer = row.getBoundingClientRect();
  const top = inner.top + box.querySelector("thead").offsetHeight;
  if (outer.top < top) box.scrollTop += outer.top - top;
  else if (outer.bottom > inner.bottom) box.scrollTop += Math.min(outer.bottom - inner.bottom, outer.top - top);
}

function step(by) {
  const count = data.alarms.length;
  if (count) choose(((current < 0 ? (by > 0 ? -1 : count) : current) + by + count) % count);
}

// the worst alarm of those that stand; all of the series where there are none
function showWorst(alarms) {
  const worst = alarms.filter(one => one.status !== "withdrawn").reduce((one, other) => one && one.severity >= other.severity ? one : other, null);
  if (worst) choose(data.alarms.indexOf(worst)); else showAll();
}

function showAll() {
  mark(-1);
  view.all();
}

function sort(header) {
  const {key} = header.querySelector("button").dataset;
  // times from the first, all else from the largest; a second click turns it round
  const [first, other] = key === "order" ? ["ascending", "descending"] : ["descending", "ascending"];
  const order = header.getAttribute("aria-sort") === first ? other : first;
  for (const one of header.parentElement.querySelectorAll("[aria-sort]")) one.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", order);
  const body = document.querySelector("#alarm-table tbody"), sign = order === "ascending" ? 1 : -1;
  // a kind by its worst, and its repeats stay below its first
  const of = kind => Math.max(...kind.map(row => row.dataset[key])), by = key === "order" ? kind => kind[0].dataset[key] : of;
  body.append(...[...kinds].sort((a, b) => sign * (by(a) - by(b))).flat());
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // a list of choices has keys of its own
  if (event.target.tagName === "SELECT" && event.key !== "Escape") return;
  const along = by => () => event.shiftKey ? charts.step(by) : step(by);
  const acts = {
    j: () => step(1), k: () => step(-1), ArrowRight: along(1), ArrowLeft: along(-1), Escape: showAll, t: turn,
    "+": () => view.zoom(0.5), "=": () => view.zoom(0.5), "-": () => view.zoom(2),
  };
  if (event.target.matches?.("#alarm-table tbody tr")) {
    const go = row => { if (row) { row.focus(); choose(Number(row.dataset.alarm)); } };
    acts.Enter = acts[" "] = () => go(event.target);
    const beside = by => { const shown = [...event.target.parentElement.rows].filter(row => !row.hidden); return shown[shown.indexOf(event.target) + by]; };
    acts.ArrowDown = () => go(beside(1));
    acts.ArrowUp = () => go(beside(-1));
  }
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}

const on = (id, event, act) => byId(id)?.addEventListener(event, act);
on("previous", "click", () => step(-1));
on("next", "click", () => step(1));
on("closer", "click", () => view.zoom(0.5));
on("further", "click", () => view.zoom(2));
on("all", "click", showAll);
on("entity", "change", event => {
  const number = Number(event.target.value);
  chooseSeries(number);
  showWorst(data.alarms.filter(one => one.series === number));
});
for (const header of document.querySelectorAll("#alarm-table [aria-sort]")) header.querySelector("button").addEventListener("click", () => sort(header));
on("alarm-table", "click", event => {
  const row = event.target.closest("tbody tr"), channel = event.target.closest(".cause")?.dataset.channel;
  if (row) choose(Number(row.dataset.alarm), channel === undefined ? undefined : Number(channel));
});
document.addEventListener("keydown", keys);

const drawn = [charts, overview];
if (data.curves.length) {
  const course = new View(() => curves.plan()), curves = new CurveCharts(course, data.curves);
  course.all();
  drawn.push(curves);
}
onPaint(() => { for (const one of drawn) one.plan(); drawMatrix(); });
// paper is light whatever the screen, and does not wait for the next frame
let screen = "light";
addEventListener("beforeprint", () => {
  screen = theme();
  setTheme("light");
  for (const one of drawn) one.draw();
  drawAttention(matrix, data);
});
addEventListener("afterprint", () => setTheme(screen));
startTheme();
startKinds();
chooseSeries(0);
showWorst(data.alarms);
charts.draw();
document.documentElement.dataset.ready = "true";
// for those who look at the page from outside, such as its tests
globalThis.report = {view, charts, overview};
