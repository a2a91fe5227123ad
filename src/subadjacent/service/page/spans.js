// Where alarms lie along the axis of a series.

import {timeOf} from "./format.js";

// half a row to either side, so that an alarm of one row has a width; one that is open lasts on
export function spansOf(alarms, columns, chosen) {
  const half = columns.interval / 2;
  const at = (time, row) => columns.kind === "time" ? timeOf(time) ?? NaN : columns.kind === "number" ? time : row;
  return alarms.map(alarm => {
    const from = at(alarm.start, alarm.first);
    const to = alarm.state === "open" ? Math.max(columns.last, from) : at(alarm.end, alarm.last);
    return {id: alarm.id, from: from - half, to: Math.max(from, to) + half, chosen: alarm.id === chosen?.id, open: alarm.state === "open"};
  }).filter(one => one.from === one.from && one.to === one.to);
}
