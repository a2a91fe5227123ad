// The page's headline: open alarms; else how many there were, the worst and the latest; else the weak sign.

import {count, severity, timeOf, when} from "./format.js";

const WEAK_SIGN = 0.5;   // severity that is worth a word without an alarm; the report has the same

const place = alarm => `in ${alarm.series} at ${when(alarm.start, alarm.first)}`;

// in time where it is known, else in the order in which they came
const later = (one, other) => (timeOf(other.start) ?? 0) - (timeOf(one.start) ?? 0) || other.id - one.id;

// all: the series, the worst first; alarms: those that are known
export function headline(all, alarms = []) {
  if (!all.length) return "Nothing to watch yet";
  const series = count(all.length, "series", "series"), open = all.filter(one => one.state === "alarm");
  if (open.length) {
    const [worst] = open, alarm = alarms.find(one => one.id === worst.open_alarm);
    const one = all.length === 1 ? "Open alarm in" : `1 of ${series} has an open alarm,`;
    const has = open.length === 1 ? one : `${open.length} of ${series} have open alarms, the worst`;
    return `${has} ${worst.name}${alarm ? `: ${alarm.sentence}` : ""}`;
  }
  const events = alarms.filter(one => one.status !== "withdrawn");
  if (events.length) return `No open alarm in ${series}. ${past(events, all)}`;
  const learning = all.filter(one => one.state === "learning").length;
  if (learning) return `No open alarm; ${learning} of ${series} still ${learning === 1 ? "learns" : "learn"}`;
  // a muted series is not to be told of
  const [strongest] = all.filter(one => one.state !== "muted").sort((one, other) => other.severity - one.severity);
  if (!((strongest?.severity ?? 0) >= WEAK_SIGN)) return `Nothing stands out in ${series}`;
  const channel = strongest.channels?.length === 1 ? `${strongest.channels[0]} of ` : "";
  return `No alarm; one weak sign: ${channel}${strongest.name} at ${when(strongest.last_time, strongest.rows - 1)}, severity ${severity(strongest.severity)}`;
}

function past(events, all) {
  // who comes in the morning asks what happened at night
  const unseen = all.reduce((sum, one) => sum + (one.unseen ?? 0), 0);
  const counted = unseen === events.length ? count(unseen, "unseen alarm") : count(events.length, "alarm") + (unseen ? `, ${unseen} unseen` : "");
  const [worst] = events.toSorted((one, other) => other.severity - one.severity), [latest] = events.toSorted(later);
  if (events.length === 1) return `${counted}, ${place(worst)}: ${worst.sentence}`;
  if (worst === latest) return `${counted}. The worst and latest ${place(worst)}: ${worst.sentence}`;
  return `${counted}. The worst ${place(worst)}: ${worst.sentence}. The latest ${place(latest)}`;
}
