// Light or dark before anything is painted, so that a dark page does not flash; theme.js goes on.
"use strict";
{
  let kept = null;
  try { kept = localStorage.getItem("subadjacent-theme"); } catch { /* a browser may refuse to keep anything */ }
  document.documentElement.dataset.theme = kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
