// The segment of time that all charts of a series show, and whether it follows the newest rows.

const FEWEST = 8;   // rows: closer than that there is nothing more to see
const LATEST = 500;   // rows that are shown of a series at first
const EDGE = 0.5;   // rows that are left free beside the first and the last

export class View {
  // columns: {first, last, interval, length} of the series; changed() is called after every move
  constructor(changed, following = false) {
    this.changed = changed;
    this.columns = null;
    this.from = 0;
    this.to = 1;
    this.following = following;
  }

  watch(columns) {
    this.columns = columns;
    this.latest();
  }

  get span() { return this.to - this.from; }

  // where the series begins and ends, with a little room
  get whole() {
    const {first, last, interval} = this.columns;
    return [first - EDGE * interval, last + EDGE * interval];
  }

  latest() {
    const [start, end] = this.whole;
    this.from = Math.max(start, end - LATEST * this.columns.interval);
    this.to = end;
    this.following = true;
    this.changed();
  }

  // rows have come: what follows moves on, and grows until it holds as many as are shown at first
  grown() {
    if (!this.following) return;
    const [start, end] = this.whole;
    const span = Math.max(this.span, Math.min(end - start, LATEST * this.columns.interval));
    this.from = Math.max(start, end - span);
    this.to = end;
    this.changed();
  }

  follow() {
    this.following = true;
    this.grown();
    this.changed();
  }

  show(from, to, following = false) {
    const [start, end] = this.whole;
    const span = Math.min(end - start, Math.max(to - from, FEWEST * this.columns.interval));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(start, middle - span / 2), end - span);
    this.to = this.from + span;
    this.following = following;
    this.changed();
  }

  all() {
    this.show(...this.whole, this.following);
  }

  // around a place that stays where it is; where none is given, the middle, or the end of what
  // follows, which then goes on following
  zoom(factor, around) {
    if (around === undefined && this.following) {
      this.show(this.to - this.span * factor, this.to, true);
      return;
    }
    around ??= (this.from + this.to) / 2;
    const share = (around - this.from) / this.span;
    const [start, end] = this.whole;
    const span = Math.min(end - start, Math.max(this.span * factor, FEWEST * this.columns.interval));
    this.show(around - share * span, around + (1 - share) * span);
  }

  // by a share of what is shown, later where it is positive; at the end of the series it follows
  pan(share) {
    const by = share * this.span, [, end] = this.whole;
    this.show(this.from + by, this.to + by, share > 0 && this.to + by >= end);
  }
}
