"use strict";
// What only the viewer does: filters without a button, choosing two runs, and following a run.
(() => {
  const one = (query, from) => (from || document).querySelector(query);

  // Replace the part of the page that changes, and keep where the person is in it.
  async function show(address, push) {
    const response = await fetch(address, { headers: { accept: "text/html" } });
    const made = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = one("#live", made), old = one("#live");
    if (!response.ok || !fresh || !old) { location.assign(address); return; }
    const active = document.activeElement;
    const link = active && active.closest(".row a") ? active.getAttribute("href") : null;
    const field = active && active.name && old.contains(active) ? active : null;
    const chosen = [...document.querySelectorAll(".pick input:checked")].map((box) => box.value);
    const kept = field && { name: field.name, value: field.value, type: field.type, start: field.selectionStart };
    old.replaceWith(document.adoptNode(fresh));
    for (const box of document.querySelectorAll(".pick input")) box.checked = chosen.includes(box.value);
    if (link) { const again = one(`.row a[href="${CSS.escape(link)}"]`); if (again) again.focus({ preventScroll: true }); }
    if (kept) {
      const again = [...fresh.querySelectorAll(`[name="${kept.name}"]`)].find((other) => kept.type !== "checkbox" || other.value === kept.value);
      if (again) {
        if (kept.type === "search") again.value = kept.value;
        again.focus({ preventScroll: true });
        if (kept.type === "search") again.setSelectionRange(kept.start, kept.start);
      }
    }
    if (push) history.replaceState(null, "", address);
    count();
    follow();
  }

  let waiting = 0;
  function filter(form) {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const fields = [...new FormData(form)].filter(([name, value]) => value && !(name === "sort" && (value === "worst" || value === "new")));
      const query = new URLSearchParams(fields).toString();
      show(location.pathname + (query ? `?${query}` : ""), true);
    }, 150);
  }
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (form && form.matches(".filters")) filter(form);
    if (event.target.matches(".pick input")) count();
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches(".filters")) { event.preventDefault(); filter(event.target); }
  });

  // Two runs are compared, not one and not three.
  function count() {
    const button = one("[data-two]");
    if (button) button.disabled = document.querySelectorAll(".pick input:checked").length !== 2;
  }

  // While a run is written, ask every two seconds whether there is more of it.
  let timer = 0;
  function follow() {
    clearTimeout(timer);
    const live = one("#live[data-poll]");
    if (!live) return;
    timer = setTimeout(async () => {
      try {
        if (!document.hidden) {
          const response = await fetch(live.dataset.poll);
          if (response.ok && (await response.text()) !== live.dataset.version) { await show(location.href, false); return; }
        }
      } catch { /* the viewer was stopped, or is busy: ask again */ }
      follow();
    }, 2000);
  }
  // A step that was asked for by its number is opened as if a link led to it.
  const step = new URLSearchParams(location.search).get("step");
  if (step && !location.hash) {
    const found = one(`details.s[id$="-${CSS.escape(step)}"]`);
    if (found) location.replace(`#${found.id}`);
  }
  addEventListener("visibilitychange", follow);
  count();
  follow();
})();
