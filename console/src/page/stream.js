// Follows what happens: swaps the status, the thought and new rows into the page. Without it everything works by loading anew.
"use strict";
(() => {
  const place = (name) => document.getElementById(name);
  const notice = place("notice");
  let source = null, again = null, wait_ms = 1000, wasOpen = false, meanwhile = null;

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
    if (meanwhile) meanwhile.push([where, markup, most]);
    const page = document.scrollingElement, stays = isAtEnd(page);
    where.append(pieces(markup));
    while (where.children.length > most && !where.firstElementChild.contains(document.activeElement)) {
      where.firstElementChild.remove();
    }
    if (stays && where.id === "said") page.scrollTop = page.scrollHeight;
  };

  // What happened while nobody followed, between two connections, is on the page as it is now.
  const renew = async () => {
    meanwhile = [];
    try {
      const answer = await fetch(location.pathname + location.search);
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const name of ["rows", "said"]) {
        const now = place(name), then = fresh.getElementById(name);
        if (!now || !then || now.contains(document.activeElement)) continue;
        now.replaceChildren(...document.importNode(then, true).childNodes);
      }
      const [came] = [meanwhile, (meanwhile = null)];
      for (const [where, markup, most] of came) {
        if (!where.textContent.includes(pieces(markup).textContent.trim())) append(where, markup, most);
      }
    } catch {
      // The stream says when the connection is lost.
    } finally {
      meanwhile = null;
    }
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
    source.onopen = () => { if (wasOpen) renew(); wasOpen = true; wait_ms = 1000; if (notice.dataset.lost) { delete notice.dataset.lost; tell(""); } };
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
