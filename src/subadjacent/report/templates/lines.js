// Lines of a series: where its rows stand in time, and its values as finely as the view needs.

const MOST_POINTS = 4500;   // drawn of one line
const HEADER = 16;          // bytes: lowest and highest value of a piece

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// index of the last number that is not above the value; at least 0
function below(numbers, value) {
  let low = 0, high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (numbers[middle] <= value) low = middle; else high = middle - 1;
  }
  return low;
}

class Series {
  constructor(info, number) {
    this.info = info;
    this.number = number;
    this.rows = info.rows;
    this.last = info.rows - 1;
    [this.anchorRows, this.anchorPlaces] = info.anchors;
    this.interval = info.interval;
    this.decoded = new Map();
    this.breaks = info.starts;
    let at = 0;
    this.pieces = info.pieces.map(([first, last, step, size]) => {
      const piece = {first, last, step, size, at};
      at += HEADER + 2 * size;
      return piece;
    });
  }

  // place of a row, whole or not, on the axis
  place(row) {
    const [rows, places] = [this.anchorRows, this.anchorPlaces];
    if (row <= 0) return places[0] + row * this.interval;
    if (row >= this.last) return places[places.length - 1] + (row - this.last) * this.interval;
    const i = below(rows, row);
    return places[i] + (places[i + 1] - places[i]) * (row - rows[i]) / (rows[i + 1] - rows[i]);
  }

  row(place) {
    const [rows, places] = [this.anchorRows, this.anchorPlaces];
    const end = places.length - 1;
    if (place <= places[0]) return (place - places[0]) / this.interval;
    if (place >= places[end]) return this.last + (place - places[end]) / this.interval;
    const i = below(places, place);
    return rows[i] + (rows[i + 1] - rows[i]) * (place - places[i]) / (places[i + 1] - places[i]);
  }

  // the finest piece that covers the rows and is not too long to draw
  piece(low, high) {
    const from = Math.max(low, 0), to = Math.min(high, this.last);
    let best = this.pieces[0];
    for (const piece of this.pieces) {
      const points = (to - from) / piece.step * (piece.step > 1 ? 2 : 1);
      const covers = piece.first <= from && to < piece.last;
      if (covers && points <= MOST_POINTS && piece.step < best.step) best = piece;
    }
    return best;
  }

  // rows of a piece's points between two rows, with a point to spare on either side; a row of
  // NaN stands wherever the clock was broken, so that no line crosses the gap
  points(piece, low, high) {
    const each = piece.step > 1 ? 2 : 1;
    const bin = row => Math.floor((row - piece.first) / piece.step);
    const from = Math.max(0, (bin(low) - 1) * each);
    const to = Math.min(piece.size, (bin(high) + 2) * each);
    const at = [], rows = [];
    let next = 0;
    for (let i = from; i < to; i++) {
      const inside = each === 1 ? 0 : (i % 2 ? 0.75 : 0.25) * (piece.step - 1);
      const row = Math.min(piece.first + Math.floor(i / each) * piece.step + inside, piece.last - 1);
      let broken = false;
      while (next < this.breaks.length && this.breaks[next] <= row) { next++; broken = true; }
      if (broken && at.length) { at.push(-1); rows.push(NaN); }
      at.push(i);
      rows.push(row);
    }
    return {at, rows};
  }

  // values of one line at the points
  values(line, piece, at) {
    if (!this.decoded.has(line)) {
      const element = document.getElementById(`line-${this.number}-${line}`);
      this.decoded.set(line, bytesOf(element.textContent).buffer);
    }
    const buffer = this.decoded.get(line);
    // a line that never moves is its value alone
    if (buffer.byteLength === HEADER) {
      const [value] = new Float64Array(buffer);
      return Float64Array.from(at, one => one < 0 ? NaN : value);
    }
    const view = new DataView(buffer, piece.at, HEADER);
    const low = view.getFloat64(0, true), high = view.getFloat64(8, true);
    const whole = new Uint16Array(buffer, piece.at + HEADER, piece.size);
    const values = new Float64Array(at.length);
    for (let i = 0; i < at.length; i++) {
      const share = at[i] < 0 ? NaN : whole[at[i]] / 65535;
      values[i] = low * (1 - share) + high * share;
    }
    return values;
  }
}
