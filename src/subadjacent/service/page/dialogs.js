// The question for a token, and the list of shortcuts.

import {byId, say} from "./dom.js";

// gives the token, or null
export function askForToken(why) {
  const dialog = byId("token-dialog"), input = byId("token");
  say(byId("token-why"), why);
  input.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise(done => dialog.addEventListener("close", () =>
    done(dialog.returnValue === "use" && input.value.trim() || null), {once: true}));
}

export function startDialogs() {
  byId("help").addEventListener("click", () => byId("help-dialog").showModal());
  for (const button of document.querySelectorAll("dialog [data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close(""));
  }
  // method=dialog would do, but a form may not be sent anywhere on this page
  byId("token-form").addEventListener("submit", event => {
    event.preventDefault();
    byId("token-dialog").close("use");
  });
}
