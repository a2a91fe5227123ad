// Numbers, times and durations as people write them.

const SMALLEST_STEP = 1e-6, LARGEST = 1e12;   // beyond these a power of ten is easier to read
const DIGITS = 4, STORED_DIGITS = 7;   // of a value that are told, and that a report has
export const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

// the power of ten that leaves so many digits of a value
export function power(value, digits) {
  return value && Number.isFinite(value) ? 10 ** (Math.floor(Math.log10(Math.abs(value))) + 1 - digits) : 1;
}

// the step of values along an axis that spans so much: of large numbers no more digits than are stored
export const stepOf = span => power(span, DIGITS) > 1 ? Math.max(1, power(span, STORED_DIGITS)) : power(span, DIGITS);

// one for each number of digits after the point: to make them takes long
const formats = Array.from({length: 8}, (_, digits) =>
  new Intl.NumberFormat("en", {minimumFractionDigits: digits, maximumFractionDigits: digits}));

// to a step, a power of ten, where one is given, else to four digits and no zeros after them
export function number(value, step) {
  if (step === undefined) return trimmed(number(value, Math.min(1, power(value, DIGITS))));
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= LARGEST || step < SMALLEST_STEP) {
    return value === 0 ? "0" : value.toExponential(DIGITS - 1).replace(/\.?0*e/, "e");
  }
  const rounded = step > 1 ? Math.round(value / step) * step : value;
  const text = formats[Math.min(7, Math.max(0, -Math.round(Math.log10(step))))].format(rounded);
  // what is rounded to nothing has no sign
  return /[1-9]/.test(text) ? text : text.replace("-", "");
}

const trimmed = text => /\.\d*$/.test(text) ? text.replace(/\.?0+$/, "") : text;

// a severity: one digit after the point is enough to compare it with the threshold at 1
export const severity = value => number(value, Math.abs(value) < 100 ? 0.1 : 1);

// numbers along an axis, to the digits in which they differ
export function along(ticks) {
  const apart = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) * 1.000001 : undefined;
  return ticks.map(one => number(one, apart && power(apart, 1)));
}

// milliseconds since 1970 of a date, else null: a number is none, however large it is, for the service
// writes those that count from 1970 as dates. Without a zone it is taken as UTC and shown as such, so
// that people read the hours that their data has
export function timeOf(value) {
  if (typeof value !== "string" || !/^\d{4}-\d\d/.test(value)) return null;
  const text = value.trim().replace(" ", "T");
  const zoned = /(Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes("T");
  const found = Date.parse(zoned ? text : `${text}Z`);
  return Number.isNaN(found) ? null : found;
}

// 2026-01-02 12:44, and seconds and their fractions where they are not zero
export function moment(time) {
  if (!Number.isFinite(time) || Math.abs(time) > 8.64e15) return "–";
  return new Date(time).toISOString().slice(0, 23).replace("T", " ").replace(/(:00)?\.000$/, "");
}

// a place along the axis of a series: a time, a plain number, or the number of a row or epoch
export function place(at, kind) {
  if (kind === "time") return moment(at);
  return kind === "number" ? String(Number(at.toPrecision(12))) : `${kind} ${number(Math.round(at), 1)}`;
}

// the time of a row as it came in; without times it is the number of the row
export function when(value, row) {
  const time = timeOf(value);
  if (time !== null) return moment(time);
  return typeof value === "number" && value !== row ? number(value) : `row ${number(row, 1)}`;
}

// 1 h 56 min: the two largest units
export function lasting(milliseconds) {
  const units = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [SECOND, "s"]];
  const first = units.findIndex(([unit]) => milliseconds >= unit);
  if (first < 0) return "under 1 s";
  const [[large, name], next] = units.slice(first);
  const rest = next ? Math.floor(milliseconds % large / next[0]) : 0;
  return `${Math.floor(milliseconds / large)} ${name}${rest ? ` ${rest} ${next[1]}` : ""}`;
}

export function count(many, one, more = `${one}s`) {
  return `${number(many, 1)} ${many === 1 ? one : more}`;
}
