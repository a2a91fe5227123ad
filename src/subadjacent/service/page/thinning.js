// Fewer points that look the same: of all that fall into one column of pixels, the lowest and the
// highest, in the order in which they come. No peak is lost, and no more than POINTS_PER_COLUMN
// points are drawn in a column however long the series is.

export const POINTS_PER_COLUMN = 3;   // lowest, highest, and a gap where one begins

// the first place whose value is not below what is sought, in ascending numbers
export function search(sorted, sought) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < sought) low = middle + 1; else high = middle;
  }
  return low;
}

// places from first to last (not included) that are in view
export function within(at, from, to) {
  let last = search(at, to);
  while (last < at.length && at[last] <= to) last++;
  return [search(at, from), last];
}

// and one more to either side, so that lines go on to the edges
export function inView(at, from, to) {
  const [first, last] = within(at, from, to);
  return [Math.max(0, first - 1), Math.min(at.length, last + 1)];
}

const never = () => false;

// points of a line as [x0, y0, x1, y1, …] with x in pixels and y as it was; y is NaN where the
// line is broken, by values that are missing or where gapBefore(place) says so
export function thin(at, values, [first, last], toPixel, gapBefore = never) {
  const points = [];
  let column = NaN, low = -1, high = -1, gap = false;
  const flush = () => {
    if (low >= 0) {
      const [one, other] = low <= high ? [low, high] : [high, low];
      points.push(toPixel(at[one]), values[one]);
      if (other !== one) points.push(toPixel(at[other]), values[other]);
    }
    if (gap) points.push(column, NaN);
    low = high = -1;
    gap = false;
  };
  for (let i = first; i < last; i++) {
    const here = Math.floor(toPixel(at[i]));
    if (here !== column) {
      if (i > first && gapBefore(i)) gap = true;
      flush();
      column = here;
    }
    const value = values[i];
    if (!Number.isFinite(value)) { gap = true; continue; }
    if (low < 0 || value < values[low]) low = i;
    if (high < 0 || value > values[high]) high = i;
  }
  flush();
  return points;
}

// the outline of a band: for every column the lowest of low and the highest of high, as
// [x, low, high, …]; NaN where either is missing in all of the column
export function thinBand(at, lows, highs, [first, last], toPixel, gapBefore = never) {
  const points = [];
  let column = NaN, x = NaN, low = Infinity, high = -Infinity;
  const flush = () => {
    if (Number.isNaN(column)) return;
    if (low <= high) points.push(x, low, high); else points.push(x, NaN, NaN);
    low = Infinity;
    high = -Infinity;
  };
  for (let i = first; i < last; i++) {
    const exact = toPixel(at[i]), here = Math.floor(exact);
    if (here !== column) {
      flush();
      if (i > first && gapBefore(i)) points.push(exact, NaN, NaN);
      column = here;
      x = exact;
    }
    if (!Number.isFinite(lows[i]) || !Number.isFinite(highs[i])) continue;
    low = Math.min(low, lows[i]);
    high = Math.max(high, highs[i]);
  }
  flush();
  return points;
}

// the lowest and highest of what is in view
export function extremes(values, [first, last]) {
  let low = Infinity, high = -Infinity;
  for (let i = first; i < last; i++) {
    const value = values[i];
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}
