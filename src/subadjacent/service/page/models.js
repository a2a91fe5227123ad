// The model that assesses the chosen series: one of its channels, or none, which learns from rows alone.

import {get, send, seriesPath} from "./api.js";
import {byId, make} from "./dom.js";

const OWN = "";   // of the choice to learn from its own rows; no model has an empty name

const alike = (some, others) => some.length === others.length && some.every(one => others.includes(one));

export class ModelChoice {
  // onSwitched(series) is given the series as it is then
  constructor(onSwitched, failed) {
    this.onSwitched = onSwitched;
    this.failed = failed;
    this.series = null;
    this.select = byId("model");
    this.select.addEventListener("change", () => this.change(this.select.value || null));
  }

  async watch(series) {
    this.series = series.name;
    let models = [];
    try {
      ({models} = await get("api/models"));
    } catch (error) {
      this.failed(error);
    }
    if (this.series !== series.name) return;
    const names = models.filter(model => alike(model.channels, series.channels)).map(model => model.name);
    this.select.replaceChildren(make("option", {value: OWN}, "Learns from its own rows"),
      ...names.map(name => make("option", {value: name}, `Model ${name}`)));
    this.select.value = series.model ?? OWN;
    byId("model-field").hidden = !names.length;
  }

  async change(model) {
    try {
      this.onSwitched(await send("PUT", seriesPath(this.series, "/model"), {model}));
    } catch (error) {
      this.failed(error);
    }
  }
}
