// A file dropped on the page, or chosen: sent to the service, which fits a model to it; how far that
// is, and what went wrong.

import {UNREACHABLE, fetchFrom, get} from "./api.js";
import {byId, make, say} from "./dom.js";
import {number} from "./format.js";

const ASK_EVERY = 400;   // milliseconds between questions how far a fit is
const TYPES = {csv: "text/csv", parquet: "application/vnd.apache.parquet"};

// pump-7.csv → pump-7
export const nameOf = file => file.replace(/^.*[\\/]/, "").replace(/\.[^.]*$/, "").trim() || "upload";

const wait = milliseconds => new Promise(done => setTimeout(done, milliseconds));

export class Uploads {
  // onDone(series) when its rows are there; failed is told by the card itself
  constructor(onDone) {
    this.onDone = onDone;
    this.place = byId("uploads");
    this.jobs = new Map();
    const chooser = byId("file");
    byId("choose-file").addEventListener("click", () => chooser.click());
    chooser.addEventListener("change", () => {
      for (const file of chooser.files) this.take(file);
      chooser.value = "";
    });
    this.listen();
  }

  listen() {
    const {documentElement} = document;
    const carries = event => event.dataTransfer?.types.includes("Files");
    addEventListener("dragover", event => {
      if (!carries(event)) return;
      event.preventDefault();
      documentElement.dataset.dropping = "true";
    });
    addEventListener("dragleave", event => { if (!event.relatedTarget) delete documentElement.dataset.dropping; });
    addEventListener("drop", event => {
      if (!carries(event)) return;
      event.preventDefault();
      delete documentElement.dataset.dropping;
      for (const file of event.dataTransfer.files) this.take(file);
    });
  }

  async take(file) {
    const name = nameOf(file.name), card = this.card(file.name);
    try {
      card.tell("sending");
      const type = TYPES[file.name.split(".").at(-1).toLowerCase()] ?? TYPES.csv;
      const response = await fetchFrom(`api/models?${new URLSearchParams({name})}`, {method: "POST", headers: {"Content-Type": type}, body: file});
      const {job} = await response.json();
      const done = await this.watch(job, card);
      // whoever has put the card away reads something else by now
      if (card.dismissed) return;
      card.end();
      await this.onDone(done.model ?? name);
    } catch (error) {
      card.fail(error.message);
    }
  }

  async watch(id, card) {
    for (;;) {
      const job = await get(`api/jobs/${encodeURIComponent(id)}`).catch(error => {
        // the fit goes on, or says what became of it, once the service is back
        if (error.status !== UNREACHABLE) throw error;
        return {step: error.message};
      });
      if (job.state === "failed") throw new Error(job.error ?? "the fit failed");
      if (job.state === "done") return job;
      card.tell(job.step ?? "fitting", job.done, job.total);
      await wait(ASK_EVERY);
    }
  }

  card(title) {
    const step = make("span", {class: "quiet", role: "status"}), bar = make("progress", {"aria-label": `Progress of ${title}`});
    const close = make("button", {type: "button", class: "remove", "aria-label": `Dismiss ${title}`, onclick: () => card.remove()}, "×");
    const card = make("li", {class: "upload"}, make("b", {}, title), step, close, bar);
    this.place.append(card);
    return {
      tell(text, done, total) {
        const known = total > 0;
        say(step, known ? `${text}, ${number(Math.floor(100 * done / total), 1)} %` : `${text}…`);
        if (known) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
      },
      get dismissed() { return !card.isConnected; },
      end: () => card.remove(),
      fail(text) {
        card.dataset.failed = "true";
        bar.remove();
        step.setAttribute("role", "alert");
        say(step, text);
      },
    };
  }
}
