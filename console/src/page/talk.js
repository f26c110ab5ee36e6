// Sends a word with Enter and without leaving the page. Without it the form does the same by loading anew.
"use strict";
(() => {
  const form = document.querySelector("form.say"), field = document.getElementById("words"), notice = document.getElementById("notice");
  if (!form || !field) return;
  const button = form.querySelector("button");

  const grow = () => { field.rows = Math.min(10, Math.max(2, field.value.split("\n").length)); };
  field.addEventListener("input", grow);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    event.preventDefault();
    if (field.value.trim()) form.requestSubmit();
  });

  // Each token is good once: the answer's page has the next ones.
  const take_tokens = (fresh) => {
    for (const name of ["form.say", "#stop"]) {
      const now = document.querySelector(`${name} input[name=act]`), next = fresh.querySelector(`${name} input[name=act]`);
      if (now && next) now.value = next.value;
    }
    const again = fresh.querySelector('form[action="/say"] input[name=act]');
    if (again && !fresh.querySelector("form.say")) form.querySelector("input[name=act]").value = again.value;
  };

  const show = (fresh) => {
    const said = document.getElementById("said"), waits = [...fresh.querySelectorAll("#said .waiting")].pop();
    if (!said || !waits || said.dataset.past) return;
    said.append(document.adoptNode(waits));
    document.getElementById("last").scrollIntoView({ block: "end" });
  };

  const send = async (from) => {
    button.disabled = true;
    try {
      const answer = await fetch("/say", { method: "POST", body: new URLSearchParams(new FormData(from)) });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      take_tokens(fresh);
      if (!answer.ok) {
        const told = fresh.querySelector("[role=alert]") || fresh.querySelector("main");
        notice.textContent = `Not sent. ${told ? told.textContent.trim() : ""} What you wrote stands here still: send it again.`;
        return;
      }
      notice.textContent = "";
      if (from === form) { field.value = ""; grow(); }
      show(fresh);
    } catch (lost) {
      notice.textContent = "It could not be sent: the page's server does not answer. What you wrote stands here still.";
    } finally {
      button.disabled = false;
      if (from === form) field.focus();
    }
  };

  for (const one of [form, document.getElementById("stop")]) {
    if (one) one.addEventListener("submit", (event) => { event.preventDefault(); send(one); });
  }
})();
