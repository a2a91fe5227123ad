// The attention matrix of a window, with the band outlined and the alarm marked on both sides.

import {byId, say} from "./dom.js";
import {bytesOf} from "./series.js";
import {color} from "./theme.js";

// outline of the points whose distance is near to far, as steps along the matrix's cells
function bandOutline(size, {near, far, circular}) {
  const inside = (i, j) => {
    if (i < 0 || j < 0 || i >= size || j >= size) return false;
    let distance = Math.abs(i - j);
    if (circular) distance = Math.min(distance, size - distance);
    return distance >= near && distance <= far;
  };
  let path = "";
  for (let i = 0; i <= size; i++) {
    for (let j = 0; j <= size; j++) {
      if (inside(i, j) !== inside(i - 1, j)) path += `M${j} ${i}h1`;
      if (inside(i, j) !== inside(i, j - 1)) path += `M${j} ${i}v1`;
    }
  }
  return path;
}

const partsOf = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));

// shades from the page's colour to that of values
function paint(canvas, {size, shades}) {
  canvas.width = canvas.height = size;
  const image = new ImageData(size, size), [from, to] = [partsOf(color("page")), partsOf(color("seen"))];
  bytesOf(shades).forEach((shade, i) => image.data.set([...from.map((one, part) => one + (to[part] - one) * shade / 255), 255], 4 * i));
  canvas.getContext("2d").putImageData(image, 0, 0);
}

export function drawAttention(matrix, {band, alarms}) {
  if (!byId("attention") || !matrix) return;
  paint(byId("attention"), matrix);
  const {size, at, until} = matrix, long = until - at + 1, thick = size / 60;
  const draw = (tag, properties) => {
    const made = document.createElementNS(byId("band").namespaceURI, tag);
    for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
    return made;
  };
  byId("band").setAttribute("viewBox", `0 0 ${size} ${size}`);
  byId("band").replaceChildren(
    ...(band ? [draw("path", {d: bandOutline(size, band)})] : []),
    draw("rect", {x: at, y: size - thick, width: long, height: thick}), draw("rect", {x: 0, y: at, width: thick, height: long}),
  );
  say(byId("attention-about"), `Which points the network looked at to rebuild each point, in the window that scored the ` +
    `alarm of ${alarms[matrix.alarm].when} (${matrix.from} to ${matrix.to}); mean over heads and layers.`);
}
