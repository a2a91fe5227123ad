// Shortcuts, wherever the reader is; not while something is typed, nor with a dialog open.

import {byId} from "./dom.js";
import {turn} from "./theme.js";

const PAN = 0.25;   // of what is shown

export function startKeys({view, charts, alarms, clear}) {
  const acts = {
    "+": () => view.zoom(0.5), "=": () => view.zoom(0.5), "-": () => view.zoom(2),
    ArrowLeft: event => event.shiftKey ? charts.step(-1) : view.pan(-PAN),
    ArrowRight: event => event.shiftKey ? charts.step(1) : view.pan(PAN),
    a: () => view.all(), l: () => view.follow(),
    j: () => alarms.step(1), k: () => alarms.step(-1),
    "/": () => byId("filter").focus(), t: turn,
    "?": () => byId("help-dialog").showModal(), Escape: clear,
  };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.matches?.("input:not([type=radio]), select, textarea")) return;
    const act = acts[event.key];
    if (!act) return;
    if (event.target.matches?.("input[type=radio]") && event.key.startsWith("Arrow")) return;
    if (!view.columns?.length && !"/t?".includes(event.key)) return;
    event.preventDefault();
    act(event);
  });
}
