// Light and dark: as the system says, until the reader chooses. Charts ask for colours by role.

import {byId} from "./dom.js";

const KEPT = "subadjacent-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const painters = [];
const colors = new Map();

export function color(role) {
  if (!colors.has(role)) colors.set(role, getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim());
  return colors.get(role);
}

// what is to be drawn again when the colours change
export const onPaint = paint => painters.push(paint);

// a browser may refuse to keep anything
const kept = () => { try { return localStorage.getItem(KEPT); } catch { return null; } };
const keep = name => { try { if (name) localStorage.setItem(KEPT, name); else localStorage.removeItem(KEPT); } catch { /* not kept */ } };

export function setTheme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = name === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", name === "dark" ? "Light colours" : "Dark colours");
  colors.clear();
  for (const paint of painters) paint();
}

const system = () => dark.matches ? "dark" : "light";
export const theme = () => document.documentElement.dataset.theme ?? kept() ?? system();

export function turn() {
  const name = theme() === "dark" ? "light" : "dark";
  // what the system says anyway need not be kept, so that it is followed when it changes
  keep(name === system() ? null : name);
  setTheme(name);
}

export function startTheme() {
  setTheme(theme());
  dark.addEventListener("change", () => setTheme(kept() ?? system()));
  byId("theme").addEventListener("click", turn);
}
