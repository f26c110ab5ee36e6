// Passkeys: asks the browser for one, to sign in by it or to add it. Without scripts there is the password.
"use strict";
(() => {
  const form = document.querySelector("form[data-passkey]"), told = document.getElementById("passkey-told");
  if (!form || !told) return;
  if (!window.PublicKeyCredential) { form.hidden = true; told.textContent = "This browser has no passkeys here: they need a certificate it trusts."; return; }

  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  const letters = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  const post = async (path, fields) => {
    const answer = await fetch(path, { method: "POST", body: new URLSearchParams(fields) });
    const text = await answer.text(), is_told = answer.headers.get("content-type")?.startsWith("text/plain");
    if (!answer.ok) throw new Error(is_told && text ? text : `it was refused (${answer.status}); load the page anew`);
    return text ? JSON.parse(text) : {};
  };

  const listed = (all) => (all || []).map((one) => ({ ...one, id: bytes(one.id) }));

  const add = async () => {
    const { options: { publicKey }, number, act } = await post("/passkeys/add", { act: form.elements.act.value });
    Object.assign(publicKey, { challenge: bytes(publicKey.challenge), user: { ...publicKey.user, id: bytes(publicKey.user.id) }, excludeCredentials: listed(publicKey.excludeCredentials) });
    const made = await navigator.credentials.create({ publicKey });
    const response = { attestationObject: letters(made.response.attestationObject), clientDataJSON: letters(made.response.clientDataJSON), transports: made.response.getTransports?.() ?? [] };
    await post("/passkeys/finish", { act, number, answer: JSON.stringify({ id: made.id, rawId: letters(made.rawId), type: made.type, response, extensions: {} }) });
    location.assign("/sessions");
  };

  const sign_in = async () => {
    const { options: { publicKey }, number } = await post("/sign-in/passkey", {});
    Object.assign(publicKey, { challenge: bytes(publicKey.challenge), allowCredentials: listed(publicKey.allowCredentials) });
    const made = await navigator.credentials.get({ publicKey });
    const of = made.response;
    const response = { authenticatorData: letters(of.authenticatorData), clientDataJSON: letters(of.clientDataJSON), signature: letters(of.signature), userHandle: of.userHandle ? letters(of.userHandle) : null };
    await post("/sign-in/passkey/finish", { number, answer: JSON.stringify({ id: made.id, rawId: letters(made.rawId), type: made.type, response, extensions: {} }) });
    location.assign("/");
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    told.textContent = "";
    try {
      await (form.dataset.passkey === "add" ? add() : sign_in());
    } catch (error) {
      told.textContent = error.name === "InvalidStateError" ? "This device has a passkey here already." : `It did not work: ${error.message}`;
    }
  });
})();
