// The attention matrix of a window, with the band outlined and the alarm marked on both sides.

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

function mix(from, to, share) {
  return from.map((one, i) => one + (to[i] - one) * share);
}

function channelsOf(color) {
  const n = parseInt(color.trim().slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

function drawAttention(found, payload, color) {
  const canvas = document.getElementById("attention");
  if (!canvas || !found) return;
  const size = found.size;
  canvas.width = canvas.height = size;
  const shades = bytesOf(found.shades);
  const image = new ImageData(size, size);
  const [from, to] = [channelsOf(color("page")), channelsOf(color("seen"))];
  shades.forEach((shade, i) => image.data.set([...mix(from, to, shade / 255), 255], 4 * i));
  canvas.getContext("2d").putImageData(image, 0, 0);
  const svg = document.getElementById("band");
  const long = found.until - found.at + 1, thick = size / 60;
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.innerHTML =
    (payload.band ? `<path d="${bandOutline(size, payload.band)}"/>` : "") +
    `<rect x="${found.at}" y="${size - thick}" width="${long}" height="${thick}"/>` +
    `<rect x="0" y="${found.at}" width="${thick}" height="${long}"/>`;
  const alarm = payload.alarms[found.alarm];
  document.getElementById("attention-about").textContent =
    `Which points the network looked at to rebuild each point, in the window that scored the ` +
    `alarm of ${alarm.when} (${found.from} to ${found.to}); mean over heads and layers.`;
}
