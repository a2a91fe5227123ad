// Fingers, mouse and wheel on the charts: drag moves, two fingers or Ctrl and the wheel zoom,
// across the wheel moves; up and down goes on scrolling the page.

const WHEEL = 0.0025;   // of a doubling for each pixel that the wheel turns
const STILL = 4;   // pixels that a finger may move in a tap

// at(event) gives the place along the axis; width() the pixels that the view takes
export function listen(element, view, {at, width, point, tap}) {
  const fingers = new Map();
  let moved = 0;

  element.addEventListener("pointerdown", event => {
    // captions may have buttons
    if (event.button !== 0 || event.target.tagName !== "CANVAS") return;
    fingers.set(event.pointerId, event.clientX);
    moved = 0;
    element.setPointerCapture(event.pointerId);
  });

  element.addEventListener("pointermove", event => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) {
      point(at(event), event);
      return;
    }
    const by = event.clientX - before;
    moved += Math.abs(by);
    if (moved <= STILL) return;
    if (fingers.size === 2) pinch(event);
    else view.pan(-by / width());
    fingers.set(event.pointerId, event.clientX);
  });

  // the other finger holds its place
  function pinch(event) {
    const [[, other]] = [...fingers].filter(([id]) => id !== event.pointerId);
    const was = Math.abs(fingers.get(event.pointerId) - other), is = Math.abs(event.clientX - other);
    if (was > 0 && is > 0) view.zoom(was / is, at({...event, clientX: other, target: event.target}));
  }

  const lift = event => {
    if (fingers.delete(event.pointerId) && event.type === "pointerup" && moved <= STILL) {
      point(at(event), event);
      tap(at(event));
    }
  };
  element.addEventListener("pointerup", lift);
  element.addEventListener("pointercancel", lift);
  element.addEventListener("pointerleave", event => {
    if (event.pointerType === "mouse" && !fingers.size) point(null);
  });

  element.addEventListener("wheel", event => {
    const across = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) view.zoom(2 ** (event.deltaY * WHEEL), at(event));
    else if (Math.abs(across) > Math.abs(event.shiftKey ? 0 : event.deltaY)) view.pan(across / width());
    else return;
    event.preventDefault();
  }, {passive: false});
}
