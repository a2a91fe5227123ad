// Light and dark: as the system says, until the reader chooses. Charts ask for colours by role.

import {byId} from "./dom.js";

const KEPT = "subadjacent-theme";   // read by early.js, too
const dark = matchMedia("(prefers-color-scheme: dark)");
const painters = [];
const colors = new Map();

export function color(role) {
  if (!colors.has(role)) colors.set(role, getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim());
  return colors.get(role);
}

// what is to be drawn again when the colours change
export const onPaint = paint => painters.push(paint);

function set(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = name === "dark" ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", name === "dark" ? "Light colours" : "Dark colours");
  colors.clear();
  for (const paint of painters) paint();
}

const system = () => dark.matches ? "dark" : "light";

export function turn() {
  const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  // what the system says anyway need not be kept, so that it is followed when it changes
  if (name === system()) localStorage.removeItem(KEPT); else localStorage.setItem(KEPT, name);
  set(name);
}

export function startTheme() {
  set(document.documentElement.dataset.theme);
  dark.addEventListener("change", () => set(localStorage.getItem(KEPT) ?? system()));
  byId("theme").addEventListener("click", turn);
}
