// What the reader does, and what the page shows for it.

const payload = JSON.parse(document.getElementById("payload").textContent);
const all = payload.series.map((info, number) => new Series(info, number));
const byId = name => document.getElementById(name);
const width = payload.channels.length;
const LINES = Object.fromEntries(payload.lines.map((name, i) => [name, payload.parts.length * width + i]));
const DENSE = 1500;   // points of a line
const CHOSEN = 0.22, UNCHOSEN = 0.1;   // how opaque the bands of alarms are
const MARKS = ["fitted", "labels", "bands"];
const TYPICAL_TO_THRESHOLD = [0, 1];   // of every severity
const NEAR_ZERO = 0.5;   // share of the highest value below which an axis begins at zero

const LABEL_ROOM = 14;   // pixels beside the numbers of an axis

let series = all[0], current = -1, attention = payload.attention[0];
let models, range, planned = false, drawnDense, markerHeight;

const named = name => models.get(name);
const color = role => getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim();

// segments of time: alarms, labels, and what was fitted on

const drawnStrips = new Map();
function strips(source, segments, top) {
  // all figures share them: while they stay the same, none need be drawn again for them
  const drawn = JSON.stringify([series.number, current, top, segments]);
  if (drawnStrips.get(source) === drawn) return;
  drawnStrips.set(source, drawn);
  const half = 0.5 * series.interval;
  const left = segments.map(([first]) => series.place(first) - half);
  const right = segments.map(([, last]) => series.place(last - 1) + half);
  source.data = {
    left, right,
    middle: left.map((one, i) => (one + right[i]) / 2),
    top: left.map(() => top),
    // those of the chosen alarm stand out among the others
    strength: segments.map(one => one[2] === current && current >= 0 ? CHOSEN : UNCHOSEN),
  };
}

function limits(arrays, extra = []) {
  let low = Math.min(...extra), high = Math.max(...extra);
  for (const values of arrays) {
    for (const one of values) {
      if (one < low) low = one;
      if (one > high) high = one;
    }
  }
  if (!(low <= high)) [low, high] = [0, 1];
  const room = high > low ? 0.08 * (high - low) : Math.abs(high) * 0.1 || 1.2;
  return [low - room, high + room];
}

// zero, where the values come near it from above
function zero(values) {
  let low = Infinity, high = -Infinity;
  for (const one of values) {
    if (one < low) low = one;
    if (one > high) high = one;
  }
  return low >= 0 && low < NEAR_ZERO * high ? [0] : [];
}

function drawOverview() {
  const piece = series.pieces[0];
  const {at, rows} = series.points(piece, 0, series.last);
  const severity = series.values(LINES.severity, piece, at);
  named("whole_line").data = {x: rows.map(row => series.place(row)), severity};
  const [low, high] = limits([severity], TYPICAL_TO_THRESHOLD);
  // room for the markers
  named("overview").y_range.setv({start: low, end: high + 0.12 * (high - low)});
  named("whole").setv({start: series.place(-0.5), end: series.place(series.last + 0.5)});
  markerHeight = high + 0.04 * (high - low);
  drawMarks();
}

function drawMarks() {
  for (const name of MARKS) strips(named(`all_${name}`), series.info[name], markerHeight);
}

// the segment in view

function view() {
  return [series.row(range.start), series.row(range.end)];
}

function drawDetail() {
  planned = false;
  const [low, high] = view();
  const piece = series.piece(low, high);
  const {at, rows} = series.points(piece, low, high);
  const data = {x: rows.map(row => series.place(row))};
  for (const [name, line] of Object.entries(LINES)) data[name] = series.values(line, piece, at);
  named("lines").data = data;
  pens(rows.length > DENSE);
  const inView = values => values.filter((_, i) => rows[i] >= low && rows[i] <= high);
  const set = (name, arrays, extra) => {
    const [start, end] = limits(arrays, extra);
    named(name).y_range.setv({start, end});
  };
  shown.forEach((_, slot) => set(`channel_${slot}`, drawChannel(slot, series, piece, {x: data.x, at, rows, inView})));
  for (const name of Object.keys(LINES)) {
    const values = inView(data[name]);
    set(name, [values], name === "severity" ? TYPICAL_TO_THRESHOLD : zero(values));
  }
  for (const name of MARKS) {
    strips(named(name), series.info[name].filter(([first, last]) => first <= high && last >= low), 0);
  }
  makeRoom(["overview", ...shown.map((_, slot) => `channel_${slot}`), ...Object.keys(LINES)]);
  tell(low, high, piece);
}

// the same for all of them: rows stand exactly below each other
function makeRoom(names) {
  const widest = Math.max(...names.map(name => widthOf(named(name).left[0], named(name).y_range)));
  const border = Math.ceil(widest) + LABEL_ROOM;
  if (border <= named("overview").min_border_left) return;
  for (const model of models.all) {
    if (model.x_range === range || model === named("overview")) model.min_border_left = border;
  }
}

// a dense line is a thin one without dashes: on screen it looks the same and is drawn sooner
function pens(dense) {
  if (dense === drawnDense) return;
  drawnDense = dense;
  for (const model of models.all) {
    const {role, detail} = model.tags?.[0] ?? {};
    if (detail) model.setv({line_width: dense ? 1 : 1.5, line_dash: dense || role !== "expected" ? [] : [5, 3]});
  }
}

function nameOf(row) {
  const place = series.place(Math.max(0, Math.min(series.last, Math.round(row))));
  if (payload.kind === "time") return new Date(place).toISOString().slice(0, 19).replace("T", " ");
  return payload.kind === "row" ? `row ${Math.round(place).toLocaleString("en")}` : String(Number(place.toPrecision(12)));
}

// whether the view lies in a part that was fitted on, in words
function learned(low, high) {
  const from = Math.max(low, 0), to = Math.min(high, series.last);
  const touched = series.info.fitted.filter(([first, last]) => first <= to && last - 1 >= from);
  if (!touched.length) return "";
  const whole = touched.some(([first, last]) => first <= from && to <= last - 0.5);
  return whole ? " · fitted on this part" : " · partly fitted on";
}

function tell(low, high, piece) {
  const every = piece.step === 1 ? "every row" : `lowest and highest of every ${piece.step} rows`;
  byId("segment").textContent = `${nameOf(low)} to ${nameOf(high)} · ${every}${learned(low, high)}`;
  const alarm = payload.alarms[current];
  const why = alarm ? `: ${alarm.sentence}` : "";
  byId("detail-title").textContent = alarm ? `Alarm ${current + 1} of ${payload.alarms.length}${why}` : "Detail";
  for (const figure of document.querySelectorAll("[data-panel]")) {
    figure.toggleAttribute("data-raised", figure.dataset.panel === alarm?.view);
  }
}

function plan() {
  if (planned) return;
  planned = true;
  requestAnimationFrame(drawDetail);
}

function look(low, high) {
  const from = Math.max(-0.5, low), to = Math.min(series.last + 0.5, high);
  range.setv({start: series.place(from), end: series.place(to)});
  plan();
}

function zoom(factor) {
  const [low, high] = view();
  const middle = (low + high) / 2, half = Math.max(3, (high - low) / 2 * factor);
  look(middle - half, middle + half);
}

// choices

function chooseSeries(number) {
  if (series.number === number) return;
  series = all[number];
  if (byId("entity")) byId("entity").value = String(number);
  drawOverview();
}

function changeChannels(numbers) {
  showChannels(numbers);
  plan();
}

function choose(number, cause) {
  const alarm = payload.alarms[number];
  if (!alarm) return;
  current = number;
  charts = alarm.charts;
  chooseSeries(alarm.series);
  drawMarks();
  changeChannels(charts.length ? charts.map(one => one.channel) : shown);
  look(alarm.first - alarm.margin, alarm.last + alarm.margin);
  attention = payload.attention.find(one => one.alarm === number) ?? attention;
  drawAttention(attention, payload, color);
  for (const row of document.querySelectorAll("#alarm-table tbody tr")) {
    const chosen = Number(row.dataset.alarm) === number;
    if (chosen) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current");
    if (chosen) keepInSight(row);
  }
  if (cause !== undefined) jump(cause);
}

// within the table only: the page itself stays where the reader left it
function keepInSight(row) {
  const box = row.closest(".scroll"), inner = box.getBoundingClientRect(), outer = row.getBoundingClientRect();
  const top = inner.top + box.querySelector("thead").offsetHeight;
  if (outer.top < top) box.scrollTop += outer.top - top;
  else if (outer.bottom > inner.bottom) box.scrollTop += Math.min(outer.bottom - inner.bottom, outer.top - top);
}

function step(by) {
  const count = payload.alarms.length;
  if (!count) return;
  const next = current < 0 ? (by > 0 ? 0 : count - 1) : current + by;
  choose((next + count) % count);
}

// the worst of some alarms; all of the series where there are none
function showWorst(alarms) {
  if (!alarms.length) return showAll();
  const worst = alarms.reduce((worst, one) => one.severity > worst.severity ? one : worst);
  choose(payload.alarms.indexOf(worst));
}

function showAll() {
  current = -1;
  charts = [];
  showChannels(shown);
  drawMarks();
  document.querySelector("tr[aria-current]")?.removeAttribute("aria-current");
  look(-0.5, series.last + 0.5);
}

function sort(header) {
  const button = header.querySelector("button"), key = button.dataset.key;
  // times from the first, all else from the largest; a second click turns it round
  const first = key === "order" ? "ascending" : "descending";
  const other = first === "ascending" ? "descending" : "ascending";
  const order = header.getAttribute("aria-sort") === first ? other : first;
  for (const one of header.parentElement.querySelectorAll("[aria-sort]")) one.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", order);
  const body = document.querySelector("#alarm-table tbody");
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...body.rows].sort((a, b) => sign * (a.dataset[key] - b.dataset[key]));
  body.append(...rows);
}

// listening

function listen() {
  const on = (id, event, act) => byId(id)?.addEventListener(event, act);
  on("previous", "click", () => step(-1));
  on("next", "click", () => step(1));
  on("closer", "click", () => zoom(0.5));
  on("further", "click", () => zoom(2));
  on("all", "click", showAll);
  on("add", "change", event => { const number = Number(event.target.value); changeChannels([...shown, number]); jump(number); });
  slots.forEach((figure, slot) => figure.querySelector(".remove")?.addEventListener("click", () => {
    changeChannels(shown.toSpliced(slot, 1));
    slots[Math.min(slot, shown.length - 1)].focus({preventScroll: true});
  }));
  on("entity", "change", event => { chooseSeries(Number(event.target.value)); showWorst(payload.alarms.filter(one => one.series === series.number)); });
  for (const header of document.querySelectorAll("#alarm-table [aria-sort]")) {
    header.querySelector("button").addEventListener("click", () => sort(header));
  }
  on("alarm-table", "click", event => {
    const row = event.target.closest("tbody tr");
    const cause = event.target.closest(".cause")?.dataset.channel;
    if (row) choose(Number(row.dataset.alarm), cause === undefined ? undefined : Number(cause));
  });
  document.addEventListener("keydown", keys);
  for (const edge of ["start", "end"]) range.properties[edge].change.connect(plan);
  const picked = named("all_bands").selected;
  picked.properties.indices.change.connect(() => {
    const [index] = picked.indices;
    if (index === undefined) return;
    const [first, last, alarm] = series.info.bands[index];
    if (alarm >= 0) choose(alarm);
    else look(first - payload.window, last + payload.window);
    picked.indices = [];
  });
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // a list of choices has keys of its own
  if (event.target.tagName === "SELECT" && event.key !== "Escape") return;
  const row = event.target.closest?.("#alarm-table tbody tr");
  const acts = {j: () => step(1), k: () => step(-1), ArrowRight: () => step(1), ArrowLeft: () => step(-1),
    Escape: showAll, "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2)};
  if (row && event.target === row) {
    const go = to => { if (to) { to.focus(); choose(Number(to.dataset.alarm)); } };
    acts.Enter = acts[" "] = () => choose(Number(row.dataset.alarm));
    acts.ArrowDown = () => go(row.nextElementSibling);
    acts.ArrowUp = () => go(row.previousElementSibling);
  }
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}

// across a chart a finger moves the view; up and down it goes on scrolling the page
function letFingersScroll() {
  for (const view of Bokeh.index) {
    const layer = view.canvas_view?.events_el;
    if (layer) layer.style.touchAction = "pan-y";
    else requestAnimationFrame(letFingersScroll);
  }
}

function start() {
  const found = Bokeh.documents[0];
  if (!found || !found.roots().length) return requestAnimationFrame(start);
  const everything = new Set(found.roots().flatMap(root => [...root.references()]));
  models = new Map([...everything].filter(one => one.name).map(one => [one.name, one]));
  models.all = everything;
  range = named("detail");
  writeNumbers(models.all, named);
  showChannels(shown);
  drawOverview();
  paint();
  listen();
  showWorst(payload.alarms);
  letFingersScroll();
  document.documentElement.dataset.ready = "true";
}

const dark = matchMedia("(prefers-color-scheme: dark)");
theme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => theme(dark.matches ? "dark" : "light"));
byId("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
let screen = "light";
addEventListener("beforeprint", () => {
  screen = document.documentElement.dataset.theme;
  theme("light");
  if (planned) drawDetail();
  // at once: paper does not wait for the next frame; Bokeh's own notices are no charts
  for (const view of Bokeh.index.roots) view.repaint?.();
});
addEventListener("afterprint", () => theme(screen));
start();
