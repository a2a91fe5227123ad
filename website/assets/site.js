// Small things that pages can do: sort tables, copy code, draw charts. Nothing here asks a server.
"use strict";

// A browser lets no page that was opened from disk read another page: results then come without excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

const NUMBER = /[-−+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?/i;

// The first number of a cell, so that "51.4 ± 0.3 (96.7)" counts as 51.4; none for words and dashes.
function valueOf(text) {
  const found = text.trim().match(NUMBER);
  return found && /^[(~≈<>]?\s*[-−+]?\d/.test(text.trim()) ? Number(found[0].replaceAll(",", "").replace("−", "-")) : null;
}

function compare(one, other, up) {
  const [a, b] = [valueOf(one), valueOf(other)];
  if (a === null && b === null) return up * one.localeCompare(other);
  // what has no number is last, whichever way
  if (a === null || b === null) return a === null ? 1 : -1;
  return up * (a - b);
}

function sortable(table) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    head.setAttribute("aria-sort", "none");
    head.tabIndex = 0;
    const sort = () => {
      const up = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
      heads.forEach(other => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", up > 0 ? "ascending" : "descending");
      const text = row => row.cells[column]?.textContent ?? "";
      body.append(...[...body.rows].sort((a, b) => compare(text(a), text(b), up)));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", event => { if (event.key === "Enter") sort(); });
  });
}

function copyable(block) {
  const button = document.createElement("button");
  button.className = "copy";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    // in a shell's session only what was typed
    const lines = block.querySelector("pre").textContent.trimEnd().split("\n");
    const typed = lines.filter(line => line.startsWith("$ ")).map(line => line.slice(2));
    await navigator.clipboard.writeText((typed.length ? typed : lines).join("\n"));
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.append(button);
}

for (const table of document.querySelectorAll("table.table")) {
  // two rows can be read as they are; a list of symbols has its own order
  if (table.tHead && table.tBodies[0]?.rows.length > 3 && table.querySelector("td.text-right")) sortable(table);
}
if (navigator.clipboard) document.querySelectorAll("div.highlight").forEach(copyable);

if (document.querySelector("figure.chart")) {
  const script = document.createElement("script");
  script.src = new URL("charts.js", document.querySelector('script[src*="site.js"]').src).href;
  document.head.append(script);
}
