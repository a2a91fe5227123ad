// Fills the charts of a page with the numbers beside them, and colours them after the style sheet.
"use strict";

const color = role => getComputedStyle(document.documentElement).getPropertyValue(`--chart-${role}`).trim();
// pixels: about what a character of a name takes, a line of text, from a mark to its name, around a name
const CHARACTER = 7.5, LINE = 15, GAP = 11, CLEAR = 4;
// of the numbers' range, beyond the outermost on each side
const MARGIN = 0.08;

function choice(figure, words, options, changed) {
  const label = document.createElement("label"), select = document.createElement("select");
  options.forEach((text, number) => select.add(new Option(text, number)));
  select.addEventListener("change", changed);
  label.append(words, select);
  figure.querySelector(".choices").append(label);
  return select;
}

function widened(values, logarithmic) {
  const scaled = logarithmic ? values.map(Math.log10) : values;
  const low = Math.min(...scaled), high = Math.max(...scaled), more = MARGIN * (high - low || 1);
  return [low - more, high + more].map(value => logarithmic ? 10 ** value : value);
}

// Names beside the marks, ours first; a name for which there is no room is left to the tooltip. That of the reference
// is above its line.
function placed(points, reference, plot) {
  const [width, height] = [plot.inner_width, plot.inner_height];
  const taken = [], scale = plot.x_scale.type === "LogScale" ? Math.log10 : Number;
  const along = (value, {start, end}, size) => (scale(value) - scale(start)) / (scale(end) - scale(start)) * size;
  const marks = points.map(point => ({
    point,
    x: along(point.x, plot.x_range, width),
    y: (point.y - plot.y_range.start) / (plot.y_range.end - plot.y_range.start) * height,
  }));
  for (const {x, y} of marks) taken.push({left: x - 6, right: x + 6, low: y - 6, high: y + 6});
  const free = box => box.left >= 0 && box.right <= width && !taken.some(other =>
    box.left < other.right && other.left < box.right && box.low < other.high && other.low < box.high);
  const first = mark => mark.point.role === "ours" ? 0 : 1;
  const names = [];
  for (const mark of [...marks].sort((a, b) => first(a) - first(b) || b.y - a.y)) {
    const long = mark.point.name.length * CHARACTER, up = mark.point.name === reference ? LINE / 2 : 0;
    for (const [align, shift, left] of [["left", GAP, mark.x + GAP], ["right", -GAP, mark.x - GAP - long]]) {
      const box = {left: left - CLEAR, right: left + long + CLEAR, low: mark.y + up - LINE / 2, high: mark.y + up + LINE / 2};
      if (free(box)) {
        taken.push(box);
        names.push({...mark.point, align, shift, lift: -up});
        break;
      }
    }
  }
  return names;
}

async function draw(figure) {
  const data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
  const [view] = await Bokeh.embed.embed_item(data.item).then(views => [...views.roots ?? views]);
  const plot = view.model, named = name => plot.document.get_model_by_name(`${data.item.target_id}-${name}`);
  const update = () => {
    const up = Number(measure.value);
    const points = data.sets[Number(set.value)].points.map(one => ({...one, x: one.across, y: one.up[up]}));
    const logarithmic = plot.x_scale.type === "LogScale";
    const [left, right] = widened(points.map(one => one.x), logarithmic);
    const [low, high] = widened(points.map(one => one.y), false);
    plot.x_range.setv({start: left, end: right});
    plot.y_range.setv({start: low, end: high});
    plot.left[0].axis_label = data.up[up];
    for (const {role} of data.roles) {
      const of = points.filter(one => one.role === role);
      named(role).data = {x: of.map(one => one.x), y: of.map(one => one.y), name: of.map(one => one.name)};
    }
    const names = placed(points, data.reference, plot);
    named("names").data = {
      x: names.map(one => one.x), y: names.map(one => one.y), name: names.map(one => one.name),
      align: names.map(one => one.align), shift: names.map(one => one.shift),
      lift: names.map(one => one.lift), role: names.map(one => one.role),
      color: names.map(one => color(one.role)),
    };
    const random = points.find(one => one.name === data.reference);
    named("reference").location = random ? random.y : null;
    figure.dataset.points = points.length;
  };
  const paint = () => {
    for (const model of plot.references()) {
      const role = model.tags?.[0], has = property => property in model.properties;
      if (typeof role === "string" && has("fill_color")) model.setv({fill_color: color(role), line_color: color(role)});
      if (has("axis_label_text_color")) model.setv({axis_label_text_color: color("ink"), major_label_text_color: color("ink"), major_tick_line_color: color("grid")});
      if (has("grid_line_color")) model.grid_line_color = color("grid");
    }
    named("reference").line_color = color("control");
    const names = named("names");
    names.data = {...names.data, color: names.data.role.map(color)};
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
  paint();
  plot.properties.inner_width.change.connect(() => requestAnimationFrame(update));
  new MutationObserver(paint).observe(document.documentElement, {attributeFilter: ["data-theme"]});
}

document.querySelectorAll("figure.chart").forEach(draw);
