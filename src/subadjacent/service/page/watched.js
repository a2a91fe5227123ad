// The series that is looked at: its rows, of all of its history few and of what is in view all.

import {get, seriesPath} from "./api.js";
import {Columns} from "./columns.js";
import {settled} from "./dom.js";
import {inView} from "./thinning.js";

const ALL = 100_000;   // rows of the history: as many as the service gives at once, and keeps
const OF_ALL = 4_000;   // points that stand for the whole history
const OF_VIEW = 4_000;   // points of what is in view: more than a screen has columns
const CLOSE = 0.1;   // of a segment by which another one may differ and still be the same
const SETTLES = 200;   // milliseconds for which a view stands still before more of it is fetched

export class Watched {
  constructor(view, {changed, failed}) {
    this.view = view;
    this.changed = changed;
    this.failed = failed;
    this.name = null;
    this.columns = null;
    this.asked = null;   // first and last row of the last closer look
    this.waiting = [];   // rows that came while the history was on its way
    this.refine = settled(() => this.detail(), SETTLES);
  }

  async open(series) {
    this.name = series.name;
    this.columns = this.asked = null;
    this.waiting = [];
    const history = await this.history({limit: ALL, points: OF_ALL});
    if (!history) return false;
    const columns = new Columns(series.channels?.length ? series.channels : Object.keys(history.values ?? {}));
    columns.merge(history);
    this.columns = columns;
    for (const answer of this.waiting) columns.take(answer);
    this.waiting = [];
    return true;
  }

  close() {
    this.name = this.columns = null;
  }

  // null where it failed, or where the reader has gone on to another series
  async history(values) {
    const {name} = this;
    try {
      const found = await get(seriesPath(name, "/history"), values);
      return name === this.name ? found : null;
    } catch (error) {
      if (name === this.name) this.failed(error);
      return null;
    }
  }

  take(answer) {
    if (answer.series !== this.name) return;
    if (!this.columns) this.waiting.push(answer);
    else {
      // of many rows that come together only the newest are told: the others are asked for
      if (answer.row > this.columns.rows.at(-1) + 1) this.asked = null;
      this.columns.take(answer);
      this.view.grown();
      this.changed();
      this.refine();
    }
  }

  // what came while the connection was lost; false where that is another series of the same name
  async catchUp() {
    const {columns} = this;
    if (!columns) return true;
    const last = columns.rows.at(-1), history = await this.history({limit: ALL, points: OF_ALL});
    if (!history || columns !== this.columns) return true;
    if ((history.rows.at(-1) ?? -1) < last) return false;
    columns.merge(history);
    this.view.grown();
    this.changed();
    return true;
  }

  // whether the last answer was about as close a look at these rows: of channels that stand still
  // few points are left, and asking again with every row that comes would give no more
  knows(from, to) {
    if (!this.asked) return false;
    const [first, last] = this.asked, span = last - first;
    return from >= first && to <= last + CLOSE * span && to - from >= (1 - CLOSE) * span;
  }

  // rows of what is in view that were left out of the whole
  async detail() {
    const {columns, view} = this;
    if (!columns?.length) return;
    const [first, last] = inView(columns.at, view.from, view.to);
    const from = columns.rows[first], to = columns.rows[last - 1], held = last - first;
    if (to - from + 1 <= held || held >= OF_VIEW / 2 || this.knows(from, to)) return;
    this.asked = [from, to];
    const history = await this.history({before: to + 1, limit: to - from + 1, points: OF_VIEW});
    if (!history?.rows?.length || columns !== this.columns) return;
    columns.merge(history);
    this.changed();
  }
}
