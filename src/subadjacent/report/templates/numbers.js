// Numbers as people write them: 39,200 or 0.013, rounded to a step of a power of ten.

const SMALLEST_STEP = 1e-6, LARGEST = 1e12;   // beyond these a power of ten is easier to read
const DIGITS = 4;   // of what an axis spans that are told of a value

// the power of ten that leaves so many digits of a value
function power(value, digits) {
  return value && Number.isFinite(value) ? 10 ** (Math.floor(Math.log10(Math.abs(value))) + 1 - digits) : 1;
}

// one for each number of digits after the point: to make them takes long
const formats = Array.from({length: 8}, (_, digits) =>
  new Intl.NumberFormat("en", {minimumFractionDigits: digits, maximumFractionDigits: digits}));

function number(value, step = power(value, DIGITS)) {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= LARGEST || step < SMALLEST_STEP) {
    return value === 0 ? "0" : value.toExponential(DIGITS - 1).replace(/\.?0*e/, "e");
  }
  const digits = Math.max(0, -Math.round(Math.log10(step)));
  const text = formats[digits].format(value);
  // what is rounded to nothing has no sign
  return /[1-9]/.test(text) ? text : text.replace("-", "");
}

// numbers along an axis, to the digits in which they differ
function along(ticks) {
  const apart = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) * 1.000001 : undefined;
  return ticks.map(one => number(one, apart && power(apart, 1)));
}

// Bokeh's axes and tooltips ask what is tagged so; a rule of their own as text would need eval
function writeNumbers(models, named) {
  for (const model of models) {
    const panel = model.tags?.[0]?.number;
    if (!panel) continue;
    if ("doFormat" in model) model.doFormat = along;
    else model.format = value => {
      const {start, end} = named(panel).y_range;
      return number(value, Math.min(1, power(end - start, DIGITS)));
    };
  }
}

// pixels that the numbers along an axis take
const ruler = document.createElement("canvas").getContext("2d");
function widthOf(axis, {start, end}) {
  ruler.font = `${axis.major_label_text_font_size} ${axis.major_label_text_font}`;
  const apart = axis.ticker.get_interval(start, end, axis.ticker.desired_num_ticks);
  return Math.max(...along([start, start + apart]).concat(along([end, end + apart])).map(one => ruler.measureText(one).width));
}
