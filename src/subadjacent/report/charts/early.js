// Light or dark before anything is painted, so that a dark page does not flash; theme.js goes on.
"use strict";
document.documentElement.dataset.theme =
  localStorage.getItem("subadjacent-theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
