"use strict";
// What every page can do: keys, the help, copying, opening all steps, and the step of the address.
(() => {
  const one = (query, from) => (from || document).querySelector(query);
  const all = (query, from) => [...(from || document).querySelectorAll(query)];
  const shown = (node) => node.getClientRects().length > 0;

  // The rows that j and k go through: cases in a list, steps on the page of a case.
  function stops() {
    const rows = all(".row a:not(.beside)").filter(shown);
    return rows.length ? rows : all(".s > summary").filter(shown);
  }

  function move(by) {
    const rows = stops();
    if (!rows.length) return;
    const at = rows.indexOf(document.activeElement);
    const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  function showTarget() {
    const id = decodeURIComponent(location.hash.slice(1));
    const step = id && document.getElementById(id);
    if (!step) return;
    for (let part = step; part; part = part.parentElement && part.parentElement.closest("details")) if (part.matches("details")) part.open = true;
    if (!step.matches("details.s")) return;
    all(".s.here").forEach((other) => other.classList.remove("here"));
    step.open = true;
    step.classList.add("here");
    step.scrollIntoView({ block: "center" });
    one("summary", step).focus({ preventScroll: true });
  }

  async function copy(button) {
    const text = document.getElementById(button.dataset.from).textContent;
    const said = one(".said", button.parentElement);
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "copied";
    } catch {
      const details = document.getElementById(button.dataset.from).closest("details");
      details.open = true;
      getSelection().selectAllChildren(document.getElementById(button.dataset.from));
      said.textContent = "selected: copy it with your keyboard";
    }
  }

  // What scrolls sideways can be reached and moved by keyboard.
  function reach() {
    for (const part of all(".wide, pre, .said-by .text")) {
      const scrolls = part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
      if (scrolls) part.tabIndex = 0; else part.removeAttribute("tabindex");
    }
  }

  const does = {
    help: () => one("#help").showModal(),
    copy,
    expand: (button) => {
      const steps = all("details.s", button.closest(".timeline"));
      const open = steps.some((step) => !step.open);
      steps.forEach((step) => { step.open = open; });
      button.textContent = open ? "close all" : "expand all";
    },
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button && does[button.dataset.do]) does[button.dataset.do](button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "Escape" && typing) event.target.blur();
    if (typing) return;
    if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "?") does.help();
    else if (event.key === "Escape") { const back = one("[data-do=back]"); if (back && shown(back)) back.click(); }
    else if (event.key === "/") { const box = one("input[type=search]"); if (box && shown(box)) box.focus(); else return; }
    else return;
    event.preventDefault();
  });
  addEventListener("beforeprint", () => all("details:not(.copy)").filter(shown).forEach((part) => { part.open = true; }));
  addEventListener("hashchange", showTarget);
  addEventListener("trialrun:case", () => { showTarget(); reach(); });
  addEventListener("resize", reach);
  document.addEventListener("toggle", reach, true);
  showTarget();
  reach();
})();
