"use strict";
// The one-file report: the list of all cases, of which only the visible part is in the page, and the
// pages of cases, which are in compressed parts of the file and unpacked when they are opened.
(() => {
  const one = (query, from) => (from || document).querySelector(query);
  const SIZE = Number(document.getElementById("index").dataset.size); // cases in a part
  const list = one("#list"), view = one("#case"), body = one("#case-body"), figures = one("#figures-view");
  const rows = one(".rows"), form = one(".filters"), output = one(".filters output");
  const template = one("#row-template");
  const ranks = { fail: 0, error: 1, flaky: 2, warn: 3, pass: 4, skip: 5 };
  const marks = { pass: "✓", warn: "!", fail: "✗", error: "?", skip: "–", flaky: "~" };
  let cases = [], chosen = [], height = 66, first = -1, last = -1;
  const opened = new Map();

  async function unpacked(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  function part(number) {
    const chunk = Math.floor(number / SIZE);
    // First the long texts that several cases share, then the pages, which name them by number and have
    // a mark in place of `c12-`, with which their anchors begin.
    if (!opened.has(chunk)) {
      opened.set(chunk, unpacked(`k${chunk}`).then((text) => {
        const end = text.indexOf("\x1c");
        return { texts: text.slice(0, end).split("\x1e"), pages: text.slice(end + 1).split("\x1e") };
      }));
    }
    return opened.get(chunk).then(({ texts, pages }) =>
      pages[number % SIZE].replace(/\x1d(\d+)\x1d/g, (_, place) => texts[Number(place)])
        .replaceAll("\x1a", `c${number}-`));
  }

  function signOf(letter) {
    const state = { p: "pass", w: "warn", f: "fail", e: "error", s: "skip" }[letter];
    const sign = document.createElement("span");
    sign.className = `sign ${state}`;
    sign.title = state;
    sign.textContent = marks[state];
    return sign;
  }

  // A row is a copy of the one template, and its texts are set as text: nothing is read as markup.
  function rowOf(entry, place) {
    const row = template.content.firstElementChild.cloneNode(true);
    const [number, word, name, agent, check, reason, step, stepName, more, cost, tokens, time, , , states, layers] = entry;
    row.className = `row ${word}`;
    row.dataset.n = number;
    row.setAttribute("aria-setsize", chosen.length);
    row.setAttribute("aria-posinset", place + 1);
    const field = (key) => one(`[data-f=${key}]`, row);
    field("href").setAttribute("href", `#c${number}`);
    const badge = one(".badge", row);
    badge.className = `badge ${word}`;
    badge.textContent = `${marks[word]} ${word.toUpperCase()}`;
    field("name").textContent = name;
    field("agent").textContent = agent;
    field("why").textContent = "";
    if (check) {
      const bold = document.createElement("b");
      bold.textContent = check;
      field("why").append(bold, " ");
    }
    field("why").append(reason);
    const where = step ? `step ${step}${stepName ? ` · ${stepName}` : ""}` : "";
    field("step").textContent = where + (more ? ` +${more} more` : "");
    const figures = [cost, tokens && `${tokens} tokens`, time].filter(Boolean);
    field("figures").replaceChildren(...figures.map((text) => {
      const span = document.createElement("span");
      span.textContent = text;
      return span;
    }));
    field("marks").replaceChildren(...states.split("").slice(0, 40).map(signOf));
    field("layers").replaceChildren(...layers.split(" ").filter(Boolean).map((layer) => {
      const span = document.createElement("span");
      span.append(`${layer.slice(1)} `, signOf(layer[0]), " ");
      return span;
    }));
    return row;
  }

  function draw() {
    if (!rows || list.hidden) return;
    const top = Math.max(0, -rows.getBoundingClientRect().top);
    const from = Math.max(0, Math.floor(top / height) - 10);
    const to = Math.min(chosen.length, Math.ceil((top + innerHeight) / height) + 10);
    if (from === first && to === last) return;
    first = from; last = to;
    const focused = document.activeElement && document.activeElement.closest(".row");
    const kept = focused ? focused.dataset.n : null;
    rows.style.paddingTop = `${from * height}px`;
    rows.style.paddingBottom = `${(chosen.length - to) * height}px`;
    rows.replaceChildren(...chosen.slice(from, to).map((entry, index) => rowOf(entry, from + index)));
    if (kept !== null) { const again = one(`.row[data-n="${kept}"] a`, rows); if (again) again.focus({ preventScroll: true }); }
  }

  const orders = {
    worst: (a, b) => ranks[a[1]] - ranks[b[1]] || a[0] - b[0],
    plan: (a, b) => a[0] - b[0],
    name: (a, b) => a[2].localeCompare(b[2]) || a[0] - b[0],
    cost: (a, b) => b[12][0] - a[12][0] || a[0] - b[0],
    tokens: (a, b) => b[12][1] - a[12][1] || a[0] - b[0],
    time: (a, b) => b[12][2] - a[12][2] || a[0] - b[0],
  };

  function choose() {
    const words = [...form.querySelectorAll("input[name=status]:checked")].map((box) => box.value);
    const unknown = words.includes("unknown");
    const states = words.filter((word) => word !== "unknown");
    const asked = form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    chosen = cases.filter((entry) =>
      (!states.length || states.includes(entry[1])) && (!unknown || entry[16] > 0) &&
      asked.every((word) => entry[13].includes(word)));
    chosen.sort(orders[form.elements.sort.value]);
    output.textContent = chosen.length === cases.length ? "" : `${chosen.length.toLocaleString("en")} of ${cases.length.toLocaleString("en")} ${form.dataset.noun}s`;
    first = last = -1;
    draw();
    rows.classList.toggle("none", !chosen.length);
  }

  // One of the three parts of the file is shown: the list, the figures, or a case.
  function show(part) {
    for (const other of [list, view, figures]) if (other) other.hidden = other !== part;
    for (const link of document.querySelectorAll(".top nav a")) {
      const here = link.hash === "#figures" ? part === figures : part === list;
      if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
  }

  async function open(number) {
    show(view);
    scrollTo(0, 0);
    const html = await part(number);
    body.innerHTML = html;
    const at = chosen.findIndex((entry) => entry[0] === number);
    for (const [rel, place] of [["prev", at - 1], ["next", at + 1]]) {
      const link = one(`a[rel=${rel}]`, view);
      const entry = at < 0 ? undefined : chosen[place];
      link.toggleAttribute("aria-disabled", !entry);
      if (entry) { link.href = `#c${entry[0]}`; link.title = entry[2]; } else link.removeAttribute("href");
    }
    one("h1", body).focus({ preventScroll: true });
    document.documentElement.dataset.case = number;
    dispatchEvent(new Event("trialrun:case"));
  }

  let place = 0;
  async function route() {
    const found = /^#c(\d+)(-\d+)?(-\d+)?$/.exec(location.hash); // #c12, #c12-1, #c12-1-3
    if (found && Number(found[1]) < cases.length) {
      const number = Number(found[1]);
      if (!list.hidden) place = scrollY;
      if (document.documentElement.dataset.case !== String(number) || view.hidden) await open(number);
      const target = document.getElementById(location.hash.slice(1));
      if (found[2] && !found[3] && target) target.scrollIntoView();
    } else if (location.hash === "#figures" && figures) {
      if (!list.hidden) place = scrollY;
      delete document.documentElement.dataset.case;
      show(figures);
      scrollTo(0, 0);
    } else {
      const was = document.documentElement.dataset.case;
      delete document.documentElement.dataset.case;
      show(list);
      first = last = -1;
      scrollTo(0, place);
      draw();
      if (was !== undefined && rows) { const row = one(`.row[data-n="${was}"] a`, rows); if (row) row.focus({ preventScroll: true }); }
    }
  }

  async function start() {
    if (!rows) return;
    cases = JSON.parse(await unpacked("index"));
    for (const entry of cases) entry[13] = [entry[2], entry[3], entry[4], entry[5], entry[7], entry[13]].join(" ").toLowerCase();
    const measured = one(".row", rows);
    if (measured) height = measured.getBoundingClientRect().height || height;
    choose();
    form.addEventListener("input", choose);
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("scroll", draw, { passive: true });
    addEventListener("resize", () => {
      const row = one(".row", rows);
      if (row) height = row.getBoundingClientRect().height || height;
      first = last = -1;
      draw();
    });
    // On paper there is no scrolling: every case that is chosen, up to a thousand.
    addEventListener("beforeprint", () => {
      if (list.hidden) return;
      rows.style.paddingTop = rows.style.paddingBottom = "0";
      rows.replaceChildren(...chosen.slice(0, 1000).map(rowOf));
      first = last = -1;
    });
    addEventListener("afterprint", draw);
    addEventListener("hashchange", route);
    await route();
    document.documentElement.dataset.ready = "";
  }
  start();
})();
