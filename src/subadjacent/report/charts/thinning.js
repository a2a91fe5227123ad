// Fewer points that look the same: of all that fall into one column of pixels, the lowest and the
// highest, in the order in which they come. No peak is lost, and no more than POINTS_PER_COLUMN
// points are drawn in a column however long the series is.

export const POINTS_PER_COLUMN = 3;   // lowest, highest, and a gap where one begins

// the first place from a start on whose value is not below what is sought, in ascending numbers
export function search(sorted, sought, low = 0, high = sorted.length) {
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

// where the rows of each column of pixels begin, and where the last of them end; edge(place) gives
// the end of the column that a place is in. Found once for all lines, by leaps: most of a long
// series is not looked at here
export function bins(at, [first, last], edge) {
  const starts = [];
  for (let start = first; start < last;) {
    starts.push(start);
    const end = edge(at[start]);
    let leap = 1;
    while (start + leap < last && at[start + leap] < end) leap *= 2;
    start = Math.max(start + 1, search(at, end, start + (leap >> 1), Math.min(start + leap, last)));
  }
  starts.push(last);
  return starts;
}

const never = () => false;

// points of a line as [place, value, …]; a value is NaN where the line is broken, by values that are
// missing or where gapBefore(row) says so
export function thin(at, values, starts, gapBefore = never) {
  const points = [];
  for (let bin = 0; bin + 1 < starts.length; bin++) {
    const start = starts[bin], end = starts[bin + 1];
    if (bin > 0 && gapBefore(start)) points.push(at[start], NaN);
    let low = -1, high = -1, least = Infinity, most = -Infinity, gap = false;
    for (let i = start; i < end; i++) {
      const value = values[i];
      if (value < least) { least = value; low = i; }
      if (value > most) { most = value; high = i; }
      if (value !== value) gap = true;
    }
    if (low >= 0) {
      const [one, other] = low <= high ? [low, high] : [high, low];
      points.push(at[one], values[one]);
      if (other !== one) points.push(at[other], values[other]);
    }
    if (gap) points.push(at[end - 1], NaN);
  }
  return points;
}

// the outline of a band: for every column the lowest of low and the highest of high, as
// [place, low, high, …]; NaN where either is missing in all of the column
export function thinBand(at, lows, highs, starts, gapBefore = never) {
  const points = [];
  for (let bin = 0; bin + 1 < starts.length; bin++) {
    const start = starts[bin], end = starts[bin + 1];
    if (bin > 0 && gapBefore(start)) points.push(at[start], NaN, NaN);
    let low = Infinity, high = -Infinity;
    for (let i = start; i < end; i++) {
      const below = lows[i], above = highs[i];
      if (below !== below || above !== above) continue;
      if (below < low) low = below;
      if (above > high) high = above;
    }
    if (low <= high) points.push(at[start], low, high); else points.push(at[start], NaN, NaN);
  }
  return points;
}

// the lowest and highest of some values, of every ``step`` from ``first`` to ``last``
export function extremes(values, [first, last] = [0, values.length], step = 1) {
  let low = Infinity, high = -Infinity;
  for (let i = first; i < last; i += step) {
    const value = values[i];
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}
