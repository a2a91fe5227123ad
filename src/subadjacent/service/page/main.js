// Puts the page together: what is asked of the service at first, and what happens on each event.

import {AlarmList} from "./alarms.js";
import {get, hasToken, onTokenWanted, send, seriesPath} from "./api.js";
import {askForToken, startDialogs} from "./dialogs.js";
import {byId, say} from "./dom.js";
import {count, moment, timeOf} from "./format.js";
import {startKeys} from "./keys.js";
import {LiveCharts} from "./live_charts.js";
import {ModelChoice} from "./models.js";
import {Overview} from "./overview.js";
import {SeriesList, inWords} from "./series_list.js";
import {spansOf} from "./spans.js";
import {follow} from "./stream.js";
import {onPaint, startTheme} from "./theme.js";
import {Uploads} from "./upload.js";
import {View} from "./view.js";
import {Watched} from "./watched.js";

const ALARMS = 200;   // that are asked for at once
const OPEN_ALARMS = 1000;   // the most that the service gives: when much breaks at once, how bad each series is
const AROUND = 1.5;   // times its length that are shown to either side of an alarm
const LEAST_AROUND = 60;   // rows
const HIGHEST = 8;   // severity in the strip: higher peaks are cut off, so that the others can still be seen
const BESIDE_STRIP = 10;   // pixels left of it
const TELL_EVERY = 30_000;   // milliseconds: how long a series stays muted is told in minutes

const view = new View(() => { redraw(); watched.refine(); }, true);
const charts = new LiveCharts(view, span => chooseAlarm(alarms.all.get(span.id)));
const overview = new Overview(view, charts, {left: () => BESIDE_STRIP, columns: () => view.columns, highest: HIGHEST, bare: true});
const alarms = new AlarmList(chooseAlarm, failed);
const list = new SeriesList(name => choose(name), alarms);
const watched = new Watched(view, {changed: redraw, failed});
const models = new ModelChoice(series => { list.update(series); tell(); }, failed);
const announced = new Set();   // alarms that the reader knows of

// for those who look at the page from outside, such as its tests
export const page = {view, charts, overview, list, alarms, watched};

function failed(error) {
  say(byId("trouble-text"), error.message);
  byId("trouble").hidden = false;
}

function seen() {
  byId("trouble").hidden = true;
  say(byId("trouble-text"), "");
}

function redraw() {
  charts.plan();
  overview.plan();
  byId("live").setAttribute("aria-pressed", String(view.following));
}

function mark() {
  charts.mark(watched.name ? alarms.of(watched.name) : [], alarms.all.get(alarms.chosen) ?? null);
  overview.plan();
  tell();
}

// about the chosen series, beside its name
function tell() {
  const series = list.all.get(watched.name);
  byId("empty").hidden = list.all.size > 0;
  byId("with-token").hidden = !hasToken();
  byId("chosen").hidden = !series;
  if (!series) return;
  say(byId("detail-title"), series.name);
  byId("detail-state").dataset.state = series.state;
  say(byId("detail-state"), inWords(list.told(series)));
  const last = timeOf(series.last_time);
  say(byId("detail-about"), [
    count(series.rows ?? 0, "row"), last === null ? "" : `last ${moment(last)}${String(series.last_time).endsWith("Z") ? " UTC" : ""}`,
    series.model ? `model ${series.model}` : "learns from its own rows",
  ].filter(Boolean).join(" · "));
  // of the alarm that was chosen, else of the one that is open
  const alarm = alarms.all.get(alarms.chosen) ?? alarms.all.get(series.open_alarm);
  say(byId("why"), alarm?.sentence ?? "");
  byId("unmute").hidden = series.state !== "muted";
  byId("mute").hidden = series.state === "muted";
}

async function choose(name) {
  const series = list.all.get(name);
  if (!series || watched.name === name) return;
  list.choose(name);
  alarms.choose(null);
  alarms.watch(name);
  history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  const opening = watched.open(series);
  tell();
  get("api/alarms", {series: name, state: "all", limit: ALARMS}).then(found => { alarms.add(found.alarms); mark(); }, failed);
  models.watch(series);
  if (!await opening) return;
  view.watch(watched.columns);
  charts.show(watched.columns);
  mark();
  document.documentElement.dataset.shown = name;
}

// the alarm in the middle of the view, its channels on top
async function chooseAlarm(alarm, channel) {
  if (!alarm) return;
  if (alarm.series !== watched.name) await choose(alarm.series);
  alarms.choose(alarm.id);
  mark();
  const {columns} = watched;
  if (!columns?.length) return;
  const [span] = spansOf([alarm], columns, null);
  if (span) {
    const margin = Math.max(AROUND * (span.to - span.from), LEAST_AROUND * columns.interval);
    view.show(span.from - margin, span.to + margin);
  }
  if (channel) charts.reveal(channel);
}

async function refresh() {
  const [found, told, open] = await Promise.all([
    get("api/series"), get("api/alarms", {state: "all", limit: ALARMS}), get("api/alarms", {state: "open", limit: OPEN_ALARMS}),
  ]);
  alarms.add([...told.alarms, ...open.alarms]);
  list.set(found.series);
  for (const {id} of open.alarms) announced.add(id);
  seen();
  for (const name of new Set([...alarms.all.values()].map(alarm => alarm.series))) if (!list.all.has(name)) alarms.remove(name);
  const wanted = watched.name ?? wantedSeries();
  if (watched.name && !list.all.has(watched.name)) await forget(watched.name);
  else if (!watched.columns) await choose(list.all.has(wanted) ? wanted : list.sorted[0]?.name);
  else if (!await watched.catchUp()) await forget(wanted, wanted);
  mark();
}

// the one that the address names; an address that was typed may name none
function wantedSeries() {
  const name = location.hash.slice(1);
  try { return decodeURIComponent(name); } catch { return name; }
}

// a series was deleted: where it was looked at, the worst of the others is
async function forget(name, next = list.sorted[0]?.name) {
  alarms.remove(name);
  if (watched.name !== name) return;
  watched.close();
  list.choose(null);
  history.replaceState(null, "", location.pathname);
  await choose(next);
  tell();
}

const events = {
  answer: answer => watched.take(answer),
  alarm(alarm) {
    alarms.add([alarm]);
    list.plan();
    if (alarm.series === watched.name) mark();
    if (alarm.state !== "open" || announced.has(alarm.id)) return;
    announced.add(alarm.id);
    say(byId("announce"), `New alarm in ${alarm.series}: ${alarm.sentence}`);
  },
  series(series) {
    list.update(series);
    // the first of all; while the list is on its way, it is not known yet which one is wanted
    if (!watched.name && document.documentElement.dataset.ready) choose(series.name);
    else if (series.name === watched.name) tell();
  },
  deleted({name}) {
    list.remove(name);
    forget(name);
  },
};

function status(connected) {
  const {dataset} = document.documentElement;
  byId("connection").dataset.state = connected ? "live" : "lost";
  say(byId("connection"), connected ? "Live" : "Connection lost, trying again");
  byId("lost").hidden = connected;
  byId("unlock").hidden = true;
  // who looks at a page that stands still must not take it for calm
  if (connected) delete dataset.lost;
  else if (!dataset.ready) say(byId("lost-text"), "No connection yet, trying again");
  else if (!dataset.lost) say(byId("lost-text"), `No connection since ${new Date().toLocaleTimeString("en-GB")}: what is shown is as it was then`);
  if (!connected && dataset.ready) dataset.lost = "true";
  if (dataset.ready) list.plan();
  if (connected) refresh().then(() => { document.documentElement.dataset.ready = "true"; }, failed);
}

// the reader gave no token: until there is one, nothing is asked
function locked() {
  say(byId("connection"), "No token");
  if (!document.documentElement.dataset.ready) say(byId("headline"), "Nothing can be shown without a token");
  say(byId("lost-text"), "A token for reading is needed: whoever runs this service can give you one");
  byId("unlock").hidden = false;
  return new Promise(done => byId("unlock").addEventListener("click", done, {once: true}));
}

async function mute(time) {
  try {
    list.update(await send("POST", seriesPath(watched.name, "/mute"), {for: time}));
    tell();
  } catch (error) {
    failed(error);
  }
}

const uploads = new Uploads(async name => {
  await refresh();
  if (watched.name === name) watched.name = null;
  await choose(name);
  const [worst] = alarms.of(name).sort((one, other) => other.severity - one.severity);
  if (worst) chooseAlarm(worst);
});

const on = (id, act) => byId(id).addEventListener("click", act);
on("closer", () => view.zoom(0.5));
on("further", () => view.zoom(2));
on("earlier", () => view.pan(-0.5));
on("later", () => view.pan(0.5));
on("all", () => view.all());
on("live", () => view.follow());
on("trouble-seen", seen);
on("unmute", () => mute(null));
// the address is for the series
on("skip", event => { event.preventDefault(); byId("detail").focus(); });
addEventListener("hashchange", () => choose(wantedSeries()));
byId("mute").addEventListener("change", event => { mute(event.target.value); event.target.value = ""; });
say(byId("here"), new URL("./", location.href.split("#")[0]).href);
onPaint(redraw);
startTheme();
startDialogs();
startKeys({view, charts, alarms, clear: () => { alarms.choose(null); mark(); view.all(); }});
onTokenWanted(askForToken);
setInterval(() => { if (document.documentElement.dataset.ready) { list.plan(); tell(); } }, TELL_EVERY);
follow("api/events", events, status, locked);
