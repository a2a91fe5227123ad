// Draws the charts of a page, as SVG, from the numbers beside them; colours are those of the style sheet.
"use strict";

const HEIGHT = 460, BOX = {left: 52, right: 16, top: 12, bottom: 52};   // pixels
// pixels: about what a character of a name takes, a line of text, from a mark to its name, around a name
const CHARACTER = 7.5, LINE = 15, GAP = 11, CLEAR = 4;
const MARGIN = 0.08;   // of the numbers' range, beyond the outermost on each side
const SHAPES = {
  ours: "M0-9 2.1-2.9 8.6-2.8 3.4 1.1 5.3 7.3 0 3.6-5.3 7.3-3.4 1.1-8.6-2.8-2.1-2.9Z",
  network: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z", simple: "M-4.5-4.5h9v9h-9Z", control: "M0-6.5 6.5 0 0 6.5-6.5 0Z",
};

function draw(parent, tag, properties, text = "") {
  const made = document.createElementNS(parent.namespaceURI, tag);
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
  made.textContent = text;
  parent.append(made);
  return made;
}

function choice(figure, words, options, changed) {
  const label = document.createElement("label"), select = document.createElement("select");
  options.forEach((text, number) => select.add(new Option(text, number)));
  select.addEventListener("change", changed);
  label.append(words, select);
  figure.querySelector(".choices").append(label);
  return select;
}

// an axis along so many pixels: where a value is, and its ticks
function axis(values, size, logarithmic) {
  const scale = logarithmic ? Math.log10 : Number, scaled = values.map(scale);
  const low = Math.min(...scaled), high = Math.max(...scaled), more = MARGIN * (high - low || 1);
  const [start, end] = [low - more, high + more];
  const at = value => (scale(value) - start) / (end - start) * size;
  const rough = (end - start) / 6, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(one => one * power).find(one => one >= rough);
  const all = logarithmic
    ? Array.from({length: 24}, (_, i) => [1, 2, 5][i % 3] * 10 ** (Math.floor(i / 3) - 2))
    : Array.from({length: 12}, (_, i) => (Math.ceil(start / step) + i) * step);
  const ticks = all.filter(one => scale(one) >= start && scale(one) <= end);
  return {at, ticks: ticks.map(one => [at(one), String(Number(one.toPrecision(6)))])};
}

// Names beside the marks, ours first; a name for which there is no room is left to the tooltip. That of the reference
// is above its line.
function placed(marks, reference, width) {
  const taken = marks.map(({x, y}) => ({left: x - 6, right: x + 6, low: y - 6, high: y + 6}));
  const free = box => box.left >= 0 && box.right <= width && !taken.some(other =>
    box.left < other.right && other.left < box.right && box.low < other.high && other.low < box.high);
  const first = mark => mark.role === "ours" ? 0 : 1;
  const names = [];
  for (const mark of [...marks].sort((a, b) => first(a) - first(b) || a.y - b.y)) {
    const long = mark.name.length * CHARACTER, y = mark.y - (mark.name === reference ? LINE / 2 : 0);
    for (const [anchor, x, left] of [["start", mark.x + GAP, mark.x + GAP], ["end", mark.x - GAP, mark.x - GAP - long]]) {
      const box = {left: left - CLEAR, right: left + long + CLEAR, low: y - LINE / 2, high: y + LINE / 2};
      if (!free(box)) continue;
      taken.push(box);
      names.push({...mark, anchor, x, y});
      break;
    }
  }
  return names;
}

function show(figure) {
  const data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent), plot = figure.querySelector("svg");
  const update = () => {
    const up = Number(measure.value), {points} = data.sets[Number(set.value)];
    const width = plot.clientWidth - BOX.left - BOX.right, height = HEIGHT - BOX.top - BOX.bottom;
    const across = axis(points.map(one => one.across), width, data.logarithmic), upward = axis(points.map(one => one.up[up]), height);
    plot.replaceChildren();
    const box = draw(plot, "g", {transform: `translate(${BOX.left} ${BOX.top})`});
    for (const [y, text] of upward.ticks) {
      draw(box, "path", {class: "grid", d: `M0 ${height - y}H${width}`});
      draw(box, "text", {x: -8, y: height - y, "text-anchor": "end", "dominant-baseline": "middle"}, text);
    }
    let last = -Infinity;
    for (const [x, text] of across.ticks) {
      draw(box, "path", {class: "grid", d: `M${x} 0V${height}`});
      if (x - last < 40) continue;
      last = x;
      draw(box, "text", {x, y: height + 18, "text-anchor": "middle"}, text);
    }
    draw(box, "text", {x: width / 2, y: height + 42, "text-anchor": "middle"}, data.across);
    const marks = points.map(one => ({...one, x: across.at(one.across), y: height - upward.at(one.up[up])}));
    const random = marks.find(one => one.name === data.reference);
    if (random) draw(box, "path", {class: "reference", d: `M0 ${random.y}H${width}`});
    for (const {x, y, name, role, ...one} of marks) {
      const mark = draw(box, "path", {class: `mark ${role}`, d: SHAPES[role], transform: `translate(${x} ${y})`});
      draw(mark, "title", {}, `${name}\n${one.up[up].toFixed(1)} · ${data.across}: ${one.across.toFixed(1)}`);
    }
    for (const {x, y, name, role, anchor} of placed(marks, data.reference, width)) {
      draw(box, "text", {class: role, x, y, "text-anchor": anchor, "dominant-baseline": "middle"}, name);
    }
    figure.dataset.points = points.length;
  };
  const set = choice(figure, "data", data.sets.map(one => one.title), update);
  const measure = choice(figure, "measure", data.up, update);
  const key = document.createElement("ul");
  key.className = "key";
  for (const {role, words} of data.roles) {
    const item = document.createElement("li");
    item.style.setProperty("--chart-color", `var(--chart-${role})`);
    item.textContent = words;
    key.append(item);
  }
  figure.append(key);
  update();
  new ResizeObserver(() => requestAnimationFrame(update)).observe(figure);
}

document.querySelectorAll("figure.chart").forEach(show);
