// Where alarms lie along the axis of a series.

import {timeOf} from "./format.js";

// half a row to either side, so that an alarm of one row has a width. One that is open lasts on, from
// ``until``, where it was last seen, to the newest row
export function spansOf(alarms, columns, chosen) {
  const half = columns.interval / 2;
  const at = (time, row) => columns.kind === "time" ? timeOf(time) ?? NaN : columns.kind === "number" ? time : row;
  return alarms.map(alarm => {
    const from = at(alarm.start, alarm.first), until = Math.max(from, at(alarm.end, alarm.last));
    const to = alarm.state === "open" ? Math.max(columns.last, until) : until;
    return {id: alarm.id, from: from - half, until: until + half, to: to + half, chosen: alarm.id === chosen?.id, withdrawn: alarm.status === "withdrawn"};
  }).filter(one => one.from === one.from && one.until === one.until);
}
