// Elements made by hand: data only ever becomes text or an attribute, never markup.

export const byId = id => document.getElementById(id);

// make("button", {class: "cause", onclick: act, "aria-label": name}, "text", another)
export function make(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter(child => child !== null && child !== undefined && child !== ""));
  return made;
}

// writes only what differs: a screen reader does not read the same text twice
export function say(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

// acts once in the next frame, however often it is asked
export function oncePerFrame(act) {
  let planned = false;
  return () => {
    if (planned) return;
    planned = true;
    requestAnimationFrame(() => { planned = false; act(); });
  };
}

// acts at once, and then no more often than that; the last time it was asked is not lost
export function notOften(act, wait) {
  let timer = null, again = false;
  const go = () => {
    act();
    again = false;
    timer = setTimeout(() => { timer = null; if (again) go(); }, wait);
  };
  return () => { if (timer === null) go(); else again = true; };
}

// acts once nothing more has been asked for a while
export function settled(act, wait) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
}
