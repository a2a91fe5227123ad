// Asking the service: addresses relative to the page, the token in a header, errors as sentences.

const KEPT = "subadjacent-token";   // of this tab only
export const UNREACHABLE = 0;   // in place of a status, where there is no answer

export class ServiceError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

let askForToken = async () => null;

// ask(sentence) gives a token, or null where the reader gives none
export function onTokenWanted(ask) { askForToken = ask; }

function headers(others = {}) {
  const token = sessionStorage.getItem(KEPT);
  return token ? {...others, Authorization: `Bearer ${token}`} : others;
}

async function sentence(response) {
  const found = await response.json().catch(() => null);
  return typeof found?.error === "string" ? found.error : `the service answered ${response.status}`;
}

// one question for a token at a time, however many requests were refused; who gives none keeps the
// last one that was of use
let asking = null, useful = null;
function wantToken(why) {
  asking ??= askForToken(why).then(token => {
    const kept = token ?? useful;
    if (kept) sessionStorage.setItem(KEPT, kept); else sessionStorage.removeItem(KEPT);
    return token;
  }).finally(() => { asking = null; });
  return asking;
}

const REFUSED = [401, 403];
const NEEDED = "a token is needed: whoever runs this service can give you one";

export const isRefused = error => REFUSED.includes(error?.status);
export const hasToken = () => sessionStorage.getItem(KEPT) !== null;

// gives the response; asks for a token and tries again where the service wants another one
export async function fetchFrom(path, options = {}) {
  for (;;) {
    const sent = sessionStorage.getItem(KEPT);
    let response;
    try {
      response = await fetch(path, {...options, headers: headers(options.headers), cache: "no-store"});
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ServiceError(UNREACHABLE, "the service cannot be reached");
    }
    if (response.ok) {
      useful = sent;
      return response;
    }
    const why = sent || response.status !== 401 ? await sentence(response) : NEEDED;
    if (!REFUSED.includes(response.status)) throw new ServiceError(response.status, why);
    // another request may have been given a better one meanwhile
    if (sessionStorage.getItem(KEPT) === sent && !await wantToken(why)) throw new ServiceError(response.status, why);
  }
}

export async function get(path, values = {}) {
  const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== undefined && value !== null));
  const response = await fetchFrom(query.size ? `${path}?${query}` : path);
  return response.json();
}

export async function send(method, path, body) {
  const response = await fetchFrom(path, {method, headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
  return response.status === 204 ? null : response.json();
}

export const seriesPath = (name, rest = "") => `api/series/${encodeURIComponent(name)}${rest}`;
export const alarmPath = (id, rest = "") => `api/alarms/${encodeURIComponent(id)}${rest}`;
