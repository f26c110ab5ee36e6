// Follows what happens: swaps the status, the thought and new rows into the page. Without it everything works by loading anew.
"use strict";
(() => {
  const place = (name) => document.getElementById(name);
  const notice = place("notice");
  let source = null, again = null, wait_ms = 1000, wasOpen = false, meanwhile = null, folds = null;

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
    if (meanwhile) meanwhile.push([where.id, markup, most]);
    const page = document.scrollingElement, stays = isAtEnd(page);
    // Rows stand with the newest first, a conversation with the newest last.
    const is_rows = where.id === "rows", oldest = () => (is_rows ? where.lastElementChild : where.firstElementChild);
    if (is_rows) where.prepend(pieces(markup)); else where.append(pieces(markup));
    while (where.children.length > most && !oldest().contains(document.activeElement)) oldest().remove();
    if (stays && where.id === "said") page.scrollTop = page.scrollHeight;
  };

  // How many asks wait: beside the way to them, in the title and in the icon.
  const count = (text) => {
    const waiting = Number(text) || 0, badge = place("badge"), icon = document.querySelector("link[rel=icon]");
    if (badge) { place("count").textContent = waiting; badge.hidden = waiting === 0; }
    document.title = (waiting ? `(${waiting}) ` : "") + document.title.replace(/^\(\d+\) /, "");
    const address = `/favicon.svg?asks=${Math.min(waiting, 10)}`;
    if (icon && icon.getAttribute("href") !== address) icon.setAttribute("href", address);
  };

  // What was said a while ago is said so: the exact time is the element's own.
  const ago = (then) => {
    const seconds = Math.round((Date.now() - then) / 1000);
    if (seconds < -1 || seconds >= 43200) return null;
    if (seconds < 5) return "now";
    if (seconds < 60) return `${seconds} s ago`;
    return seconds < 3600 ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3600)} h ago`;
  };
  setInterval(() => {
    for (const one of document.querySelectorAll("time[title]")) {
      const told = ago(Date.parse(one.getAttribute("datetime")));
      if (told && one.textContent !== told) one.textContent = told;
    }
  }, 20000);
  setInterval(() => {
    for (const one of document.querySelectorAll("[data-since]")) {
      one.textContent = `${Math.max(0, Math.floor((Date.now() - Number(one.dataset.since)) / 1000))} s`;
    }
  }, 1000);

  // By its exact time and its words: how long ago it was is told otherwise a moment later.
  const known_by = (one) => `${one.querySelector("time")?.getAttribute("datetime")} ${one.querySelector(".told, .words")?.textContent.trim()}`;

  // What happened while nobody followed, between two connections, is on the page as it is now.
  const renew = async (folds_only) => {
    meanwhile = [];
    try {
      const answer = await fetch(location.pathname + location.search);
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const name of ["happened", "said"]) {
        const now = place(name), then = fresh.getElementById(name);
        if (!now || !then || now.contains(document.activeElement) || (folds_only && now.querySelector("details[open]"))) continue;
        now.replaceChildren(...document.importNode(then, true).childNodes);
      }
      const [came] = [meanwhile, (meanwhile = null)];
      for (const [id, markup, most] of came) {
        const where = place(id);
        if (where && ![...where.children].some((one) => known_by(one) === known_by(pieces(markup)))) append(where, markup, most);
      }
    } catch {
      // The stream says when the connection is lost.
    } finally {
      meanwhile = null;
    }
  };

  const listeners = {
    status: (text) => swap(place("status"), text),
    switch: (text) => swap(place("switch"), text),
    thinking: (text) => {
      const thinking = place("thinking");
      if (!thinking) return;
      const stays = isAtEnd(thinking);
      thinking.textContent = text;
      if (stays) thinking.scrollTop = thinking.scrollHeight;
    },
    row: (text) => {
      append(place("rows"), text, 60);
      // Once nothing more comes, what came is folded into lines a wake, with their sums.
      clearTimeout(folds);
      if (place("happened")) folds = setTimeout(() => renew(true), 5000);
    },
    said: (text) => {
      const said = place("said");
      if (!said || said.dataset.past) return;
      said.querySelectorAll(".waiting").forEach((word) => {
        const found = pieces(text).querySelector(".owner .words");
        if (found && found.textContent.trim() === word.querySelector(".words").textContent.trim()) word.remove();
      });
      append(said, text, 200);
    },
    reply: (text) => {
      const reply = place("reply"), stop = place("stop");
      if (!reply) return;
      const page = document.scrollingElement, stays = isAtEnd(page);
      swap(reply, text);
      if (stop) stop.hidden = !text;
      if (stays) page.scrollTop = page.scrollHeight;
    },
    asked: (text) => swap(place("asked"), text),
    count,
    notice: tell,
  };

  const leave = () => {
    clearTimeout(again);
    clearTimeout(folds);
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
