// Follows what happens: swaps the status, the thought and new rows into the page. Without it everything works by loading anew.
"use strict";
(() => {
  const place = (name) => document.getElementById(name);
  const notice = place("notice");
  let source = null, again = null, wait_ms = 1000;

  const tell = (text) => { if (notice.textContent !== text) notice.textContent = text; };

  // Markup of the server's own, every letter of it escaped there.
  const pieces = (markup) => {
    const holder = document.createElement("template");
    holder.innerHTML = markup;
    return holder.content;
  };

  const swap = (where, markup) => {
    if (!where || where.contains(document.activeElement)) return;
    where.replaceChildren(pieces(markup));
  };

  const isAtEnd = (where) => where.scrollHeight - where.scrollTop - where.clientHeight < 40;

  const append = (where, markup, most) => {
    if (!where) return;
    const page = document.scrollingElement, stays = isAtEnd(page);
    where.append(pieces(markup));
    while (where.children.length > most && !where.firstElementChild.contains(document.activeElement)) {
      where.firstElementChild.remove();
    }
    if (stays && where.id === "said") page.scrollTop = page.scrollHeight;
  };

  const listeners = {
    status: (text) => swap(place("status"), text),
    thinking: (text) => {
      const thinking = place("thinking");
      if (!thinking) return;
      const stays = isAtEnd(thinking);
      thinking.textContent = text;
      if (stays) thinking.scrollTop = thinking.scrollHeight;
    },
    row: (text) => append(place("rows"), text, 60),
    said: (text) => {
      const said = place("said");
      if (!said || said.dataset.past) return;
      said.querySelectorAll(".waiting").forEach((word) => {
        const found = pieces(text).querySelector(".owner .words");
        if (found && found.textContent.trim() === word.querySelector(".words").textContent.trim()) word.remove();
      });
      append(said, text, 200);
    },
    notice: tell,
  };

  const leave = () => {
    clearTimeout(again);
    if (source) source.close();
    source = null;
  };

  // A browser holds few connections to one place: a page that nobody sees takes none.
  const follow = () => {
    leave();
    if (document.hidden) return;
    source = new EventSource("/stream");
    source.onopen = () => { wait_ms = 1000; if (notice.dataset.lost) { delete notice.dataset.lost; tell(""); } };
    source.onerror = () => {
      leave();
      notice.dataset.lost = "yes";
      if (!notice.textContent) tell("The connection is lost: what you see may be old. It is tried again.");
      again = setTimeout(follow, wait_ms);
      wait_ms = Math.min(wait_ms * 2, 30000);
    };
    for (const [name, heard] of Object.entries(listeners)) {
      source.addEventListener(name, (event) => heard(event.data));
    }
  };

  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : follow()));
  window.addEventListener("pagehide", leave);
  follow();
})();
