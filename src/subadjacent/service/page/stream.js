// Events as they happen, over one long answer of the service; the browser's own EventSource cannot
// send a token. A connection that breaks is tried again.

import {fetchFrom, isRefused} from "./api.js";

const FIRST_WAIT = 500, LONGEST_WAIT = 10_000;   // milliseconds between tries, doubled each time
const SILENCE = 60_000;   // milliseconds without a byte after which a connection counts as broken

// parts of a stream of text → {event, data}; keeps what is not complete
export class Parser {
  constructor(tell) {
    this.tell = tell;
    this.rest = "";
  }

  feed(text) {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop();
    for (const line of lines) this.line(line);
  }

  line(line) {
    if (line === "") {
      if (this.data !== undefined) this.tell(this.event ?? "message", this.data);
      this.event = this.data = undefined;
      return;
    }
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
    if (field === "event") this.event = value;
    if (field === "data") this.data = this.data === undefined ? value : `${this.data}\n${value}`;
  }
}

// on: {event name: act(data)}; status(true) once connected, status(false) when that breaks; locked()
// where the reader gave no token: it is waited for, so that nobody is asked again and again
export function follow(path, on, status, locked) {
  let wait = FIRST_WAIT;
  // a mistake in what is done about an event is told in the console, and does not end the stream
  const tell = (event, data) => {
    try { on[event]?.(JSON.parse(data)); } catch (error) { reportError(error); }
  };

  async function once() {
    const stop = new AbortController();
    let silence = setTimeout(() => stop.abort(), SILENCE);
    try {
      const response = await fetchFrom(path, {signal: stop.signal, headers: {Accept: "text/event-stream"}});
      const parser = new Parser(tell), decoder = new TextDecoder(), reader = response.body.getReader();
      wait = FIRST_WAIT;
      status(true);
      for (;;) {
        const {done, value} = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => stop.abort(), SILENCE);
        parser.feed(decoder.decode(value, {stream: true}));
      }
    } finally {
      clearTimeout(silence);
    }
  }

  (async () => {
    for (;;) {
      const error = await once().catch(error => error);
      status(false);
      if (isRefused(error)) {
        await locked();
        continue;
      }
      await new Promise(done => setTimeout(done, wait));
      wait = Math.min(2 * wait, LONGEST_WAIT);
    }
  })();
}
