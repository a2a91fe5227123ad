// Channels under each other: those of the chosen alarm, and those that the reader adds.

const slots = [...document.querySelectorAll("[data-slot]")];
const add = document.getElementById("add");
let shown = [0];   // numbers of channels, from the top
let charts = [];   // of the chosen alarm

// only once the figures are on the page do they know how wide they are
function showChannels(numbers) {
  shown = numbers.slice(0, slots.length);
  slots.forEach((figure, slot) => {
    const number = shown[slot];
    figure.hidden = number === undefined;
    if (figure.hidden) return;
    // below the last of them stand the times
    const last = slot === shown.length - 1, plot = named(`channel_${slot}`), [axis] = plot.below;
    if (axis.visible !== last) {
      axis.visible = last;
      plot.height += last ? payload.axisHeight : -payload.axisHeight;
    }
    const chart = charts.find(one => one.channel === number);
    const name = payload.channels[number];
    figure.querySelector(".name").textContent = name;
    figure.querySelector(".told").textContent = chart?.told ?? "";
    const remove = figure.querySelector(".remove");
    if (remove) {
      remove.disabled = shown.length === 1;
      remove.setAttribute("aria-label", `Remove ${name}`);
    }
  });
  if (!add) return;
  add.value = "";
  add.disabled = shown.length === slots.length;
  for (const option of add.options) option.disabled = option.value !== "" && shown.includes(Number(option.value));
}

// to the chart of a channel, which is put below the others where it is not there
function jump(number) {
  if (!shown.includes(number)) showChannels([...shown.slice(0, slots.length - 1), number]);
  const figure = slots[shown.indexOf(number)];
  figure.focus({preventScroll: true});
  figure.scrollIntoView({block: "center"});
}

// the band of what is usual: from afar as far as it reaches in a few rows, and nothing across a gap
function usual(x, at, low, high) {
  const area = {x: [], low: [], high: []};
  const put = (place, from, to) => { area.x.push(place); area.low.push(from); area.high.push(to); };
  for (let i = 0; i < x.length; i++) {
    if (at[i] >= 0) { put(x[i], low[i], high[i]); continue; }
    const middle = one => (low[one] + high[one]) / 2;
    put(x[i - 1], middle(i - 1), middle(i - 1));
    put(x[i + 1], middle(i + 1), middle(i + 1));
  }
  return area;
}

// what stands in for missing values was not seen
function without(gaps, values, rows) {
  let next = 0;
  return values.map((one, i) => {
    while (next < gaps.length && gaps[next][1] <= rows[i]) next++;
    return next < gaps.length && gaps[next][0] <= rows[i] ? NaN : one;
  });
}

function drawChannel(slot, series, piece, {x, at, rows, inView}) {
  const number = shown[slot], name = `channel_${slot}`, first = number * payload.parts.length;
  const [filled, expected, below, above] = payload.parts.map((_, part) => series.values(first + part, piece, at));
  const seen = without(series.info.missing[number] ?? [], filled, rows);
  let low = expected, high = expected;
  if (piece.step > 1) {
    // points come in pairs, the lowest and the highest of some rows
    const other = series.values(first + 1, piece, at.map(one => one < 0 ? one : one ^ 1));
    low = expected.map((one, i) => Math.min(one, other[i]));
    high = expected.map((one, i) => Math.max(one, other[i]));
  }
  low = low.map((one, i) => one + below[i]);
  high = high.map((one, i) => one + above[i]);
  named(`${name}_lines`).data = {x, seen, expected, low, high};
  named(`${name}_usual`).data = usual(x, at, low, high);
  // among many points an edge is no clearer than the band, and takes as long to draw as the data
  if (rows.length <= DENSE) named(`${name}_edges`).data = {x, low, high};
  else if (named(`${name}_edges`).data.x.length) named(`${name}_edges`).data = {x: [], low: [], high: []};
  // of the lowest and the highest of some rows the band says all
  named(`${name}_expected`).visible = piece.step === 1;
  const chart = charts.find(one => one.channel === number && one.row !== undefined);
  const most = named(`${name}_most`), place = chart ? [series.place(chart.row)] : [];
  if (most.data.x[0] !== place[0] || most.data.seen[0] !== chart?.seen) {
    const one = value => chart ? [value ?? NaN] : [];
    most.data = {x: place, seen: one(chart?.seen), expected: one(), low: one(chart?.low), high: one(chart?.high)};
  }
  return [seen, low, high].map(inView);
}
