// The series that is looked at: its rows, of all of its history few and of what is in view all.

import {get, seriesPath} from "./api.js";
import {Columns} from "./columns.js";
import {settled} from "./dom.js";
import {inView} from "./thinning.js";

const OF_ALL = 4_000;   // points that stand for the whole history
const OF_VIEW = 4_000;   // points of what is in view: more than a screen has columns
const SETTLES = 200;   // milliseconds for which a view stands still before more of it is fetched

export class Watched {
  constructor(view, {changed, failed}) {
    this.view = view;
    this.changed = changed;
    this.failed = failed;
    this.name = null;
    this.columns = null;
    this.waiting = [];   // rows that came while the history was on its way
    this.refine = settled(() => this.detail(), SETTLES);
  }

  async open(series) {
    this.name = series.name;
    this.columns = null;
    this.waiting = [];
    const history = await this.history({points: OF_ALL});
    if (!history) return false;
    const columns = new Columns(series.channels?.length ? series.channels : Object.keys(history.values ?? {}));
    columns.merge(history);
    this.columns = columns;
    for (const answer of this.waiting) columns.take(answer);
    this.waiting = [];
    return true;
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
      this.columns.take(answer);
      this.view.grown();
      this.changed();
    }
  }

  // what came while the connection was lost
  async catchUp() {
    const {columns} = this;
    if (!columns) return;
    const history = await this.history({points: OF_ALL});
    if (!history || columns !== this.columns) return;
    columns.merge(history);
    this.view.grown();
    this.changed();
  }

  // rows of what is in view that were left out of the whole
  async detail() {
    const {columns, view} = this;
    if (!columns?.length) return;
    const [first, last] = inView(columns.at, view.from, view.to);
    const from = columns.rows[first], to = columns.rows[last - 1], held = last - first;
    if (to - from + 1 <= held || held >= OF_VIEW / 2) return;
    const history = await this.history({before: to + 1, limit: to - from + 1, points: OF_VIEW});
    if (!history?.rows?.length || columns !== this.columns) return;
    columns.merge(history);
    this.changed();
  }
}
