// Drags and zooms the picture of a life: asks the server for the span that is looked at. Without it links do the same.
"use strict";
(() => {
  const box = document.getElementById("life");
  if (!box || !box.querySelector("svg")) return;
  const least_ms = 1000, most_ms = 40 * 365 * 86400000;
  let span = null, asked = 0, wait = null, drag = null, moved = false;

  const picture = () => box.querySelector("svg");
  const shown = () => ({ from: Number(picture().dataset.from), to: Number(picture().dataset.to) });
  // Where idle times are cut, a column is longer: between two of these stops all columns are alike.
  const stops = () => picture().dataset.stops.split(" ").map((stop) => stop.split(",").map(Number));
  const time_at = (client) => {
    const edge = picture().getBoundingClientRect(), wide = picture().viewBox.baseVal.width;
    const x = (client - edge.left) * wide / edge.width - Number(picture().dataset.left), all = stops();
    for (let at = 1; at < all.length; at += 1) {
      const [[x0, ms0], [x1, ms1]] = [all[at - 1], all[at]];
      if (x <= x1 || at === all.length - 1) return Math.max(ms0, Math.min(ms1, ms0 + (x - x0) / Math.max(1, x1 - x0) * (ms1 - ms0)));
    }
    return span.from;
  };
  /** Milliseconds of a column where nothing is cut. */
  const rate = () => {
    const parts = stops().map((stop, at, all) => (at ? [stop[0] - all[at - 1][0], stop[1] - all[at - 1][1]] : [0, 0])).filter((part, at) => at % 2 === 1);
    const [wide, ms] = parts.reduce(([w, m], [x, t]) => [w + x, m + t], [0, 0]);
    return ms / Math.max(1, wide);
  };
  const width = () => Math.max(240, Math.min(3000, Math.floor(box.clientWidth)));
  const query = (it) => `from=${Math.round(it.from)}&to=${Math.round(it.to)}`;

  const bounded = (it) => {
    const length = Math.max(least_ms, Math.min(most_ms, it.to - it.from));
    const from = Math.max(0, (it.from + it.to) / 2 - length / 2);
    return { from, to: from + length };
  };

  // The words, the ways and the exports follow once the picture rests.
  const follow = async (mine) => {
    const answer = await fetch(`/life?${query(span)}&width=${width()}`);
    if (!answer.ok || mine !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["ways", "things", "exports"]) {
      const old = document.getElementById(id), now = page.getElementById(id);
      if (old && now && !old.contains(document.activeElement)) old.replaceWith(document.adoptNode(now));
    }
    history.replaceState(null, "", `/life?${query(span)}`);
  };

  const draw = async () => {
    const mine = ++asked;
    try {
      const answer = await fetch(`/life.svg?${query(span)}&width=${width()}`);
      if (!answer.ok || mine !== asked) return;
      const drawn = new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement;
      if (mine !== asked || drawn.localName !== "svg" || drag) return;
      const focus = box.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
      picture().replaceWith(document.adoptNode(drawn));
      if (focus) {
        const same = [...picture().querySelectorAll("a")].find((a) => a.getAttribute("href") === focus);
        (same || box).focus({ preventScroll: true });
      }
      clearTimeout(wait);
      wait = setTimeout(() => follow(mine).catch(() => {}), 400);
    } catch (lost) { /* The notice above says when the connection is lost. */ }
  };

  const go = (it) => { span = bounded(it); draw(); };
  const pan = (part) => { const length = span.to - span.from; go({ from: span.from + part * length, to: span.to + part * length }); };
  const middle = () => (span.from + span.to) / 2;
  const zoom = (by, middle) => {
    go({ from: middle - (middle - span.from) * by, to: middle + (span.to - middle) * by });
  };

  span = shown();
  if (Math.abs(width() - Number(picture().getAttribute("width"))) > 8) draw();
  let resized = null;
  window.addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(draw, 200); });

  box.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return pan(Math.sign(event.deltaX) * 0.1);
    zoom(event.deltaY > 0 ? 1.25 : 0.8, time_at(event.clientX));
  }, { passive: false });

  box.addEventListener("pointerdown", (event) => {
    moved = false;
    if (event.button === 0) drag = { x: event.clientX, from: span.from, to: span.to, rate: rate() };
  });
  window.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const by = event.clientX - drag.x;
    if (!moved && Math.abs(by) < 5) return;
    moved = true;
    const view = picture().viewBox.baseVal, columns = by * view.width / box.clientWidth, ms = columns * drag.rate;
    view.x = -columns;
    span = bounded({ from: drag.from - ms, to: drag.to - ms });
  });
  const drop = () => { if (drag && moved) { drag = null; draw(); } drag = null; };
  window.addEventListener("pointerup", drop);
  window.addEventListener("pointercancel", drop);
  box.addEventListener("click", (event) => { if (moved) event.preventDefault(); }, true);
  box.addEventListener("dragstart", (event) => event.preventDefault());

  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = { "+": () => zoom(0.67, middle()), "=": () => zoom(0.67, middle()), "-": () => zoom(1.5, middle()), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2),
      Home: () => { const all = document.getElementById("all"); if (all) location.href = all.href; } };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
})();
