// Where the ticks of an axis stand, and what they say.

import {DAY, HOUR, MINUTE, SECOND, along, number, power} from "./format.js";

const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map(many => many * SECOND), ...[1, 2, 5, 10, 15, 30].map(many => many * MINUTE),
  ...[1, 2, 3, 6, 12].map(many => many * HOUR), ...[1, 2, 7, 14].map(many => many * DAY),
];
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120];
const DAYS_OF_A_MONTH = 30.4;
const NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// 1, 2 or 5 times a power of ten, so that no more than so many fit in
export function niceStep(span, most) {
  const rough = span / Math.max(1, most);
  if (!(rough > 0) || !Number.isFinite(rough)) return 1;
  const base = power(rough, 1);
  return [1, 2, 5, 10].map(one => one * base).find(one => one >= rough * 0.999999);
}

function multiples(low, high, step) {
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
  return ticks;
}

const FINER = 4;   // ticks more than asked for, where round ones would be fewer than two

// ticks of values: [place, text] each; by a single one nobody can tell how large a value is
export function valueTicks(low, high, most) {
  let ticks = [];
  for (let finer = 0; ticks.length < 2 && finer <= FINER; finer++) ticks = multiples(low, high, niceStep(high - low, most + finer));
  const texts = along(ticks);
  return ticks.map((tick, i) => [tick, texts[i]]);
}

// limits with a little room, rounded, so that an axis does not move with every row that comes
export function roundLimits(low, high) {
  if (!(low <= high)) return [0, 1];
  const room = high > low ? 0.06 * (high - low) : Math.abs(high) * 0.1 || 1;
  const step = niceStep(high - low + 2 * room, 12);
  return [Math.floor((low - room) / step) * step, Math.ceil((high + room) / step) * step];
}

const two = value => String(value).padStart(2, "0");

function timeText(time, step) {
  const date = new Date(time);
  const day = `${two(date.getUTCDate())} ${NAMES[date.getUTCMonth()]}`;
  if (step >= DAY || time % DAY === 0) return day;
  const clock = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
  return step < MINUTE ? `${clock}:${two(date.getUTCSeconds())}` : clock;
}

function monthTicks(from, to, most) {
  const needed = (to - from) / DAY / DAYS_OF_A_MONTH / most;
  const step = MONTHS.find(one => one >= needed) ?? Math.ceil(needed / 120) * 120;
  const first = new Date(from);
  const ticks = [];
  for (let month = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step; ; month += step) {
    const time = Date.UTC(Math.floor(month / 12), month % 12);
    if (time > to || Number.isNaN(time)) return ticks;
    if (time >= from) ticks.push([time, step < 12 && month % 12 ? NAMES[month % 12] : String(Math.floor(month / 12))]);
  }
}

// ticks of the axis of time, or of row numbers
export function timeTicks(from, to, most, kind) {
  if (kind === "number") return valueTicks(from, to, most);
  if (kind !== "time") return multiples(from, to, Math.max(1, niceStep(to - from, most))).map(tick => [tick, number(tick, 1)]);
  // with seconds a text is longer
  const step = STEPS.find(one => (to - from) / one <= (one < MINUTE ? 0.75 : 1) * most);
  if (step === undefined) return monthTicks(from, to, most);
  return multiples(from, to, step).map(tick => [tick, timeText(tick, step)]);
}
