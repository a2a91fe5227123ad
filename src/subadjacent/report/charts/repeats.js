// Alarms of one kind: the first stands for all of them, and a button below it opens the others.

import {make} from "./dom.js";

// Groups in the order in which their first alarm is met; kindOf(alarm) is the same for all of a group.
export function grouped(alarms, kindOf) {
  const groups = new Map();
  for (const alarm of alarms) groups.set(kindOf(alarm), [...groups.get(kindOf(alarm)) ?? [], alarm]);
  return groups;
}

// "3 of this kind since 09:15": with the day only where the last of them came on another
export function inKind(many, first, last) {
  const [day, clock] = first.split(" ");
  return `${many} of this kind since ${/^\d{4}-/.test(day) && clock && last.startsWith(`${day} `) ? clock : first}`;
}

export function kindButton(text, open, toggle) {
  return make("button", {class: "kind", type: "button", "data-action": "kind", "aria-expanded": String(open), onclick: event => {
    event.stopPropagation();   // it is no choice of the alarm that it stands in
    toggle();
  }}, text);
}
