"use strict";
// What pages about many runs share: above them, as above a report, the link to this place, the theme, the help; and
// what is chosen on their charts and maps, which that link keeps.
(() => {
  const KEY = "nsys-ai-theme";
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;
  const search = document.getElementById("search");

  const make = (tag, attributes, ...children) => {
    const node = tag === "rect" ? document.createElementNS(document.querySelector("svg").namespaceURI, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const button = (text, title, click) => {
    const node = make("button", { type: "button", title }, text);
    node.addEventListener("click", click);
    return node;
  };

  let theme = "auto";
  try {
    theme = THEMES.find((name) => name === localStorage.getItem(KEY)) || theme;
  } catch {
    // Storage may be off for files: the choice then lasts as long as the page.
  }
  const wear = () => {
    root.dataset.theme = theme;
    themes.textContent = `◐ ${theme[0].toUpperCase()}${theme.slice(1)}`;
  };
  const themes = button("", "Theme: automatic, light, dark", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // As above.
    }
    wear();
  });

  const link = button("Link", "Copy a link to exactly this place", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      link.textContent = "Copied";
    } catch {
      link.textContent = "Failed";
    }
    setTimeout(() => (link.textContent = "Link"), 1500);
  });

  const keys = [["?", "This help"], ["Tab  Enter", "Go to links, dots and headings; follow, or sort"], ["Esc", "Close"]];
  if (search) keys.unshift(["/", "Search"]);
  const charts = [...document.querySelectorAll("figure svg")].filter((svg) => svg.querySelector("a[id] circle"));
  if (charts.length) keys.splice(1, 0, ["[  ]", "From this dot on, up to this dot: what the charts hold in between; a drag over a chart does it, too"]);
  const maps = [...document.querySelectorAll("svg.map")].filter((svg) => svg.querySelector(".rank[data-ns], .rank[data-compute]"));
  if (maps.length) keys.splice(1, 0, ["Shift+\u2190  Shift+\u2192", "Columns of the map in focus: what each rank did in them; a drag over a map does it, too"]);
  const dialog = make("dialog", { class: "help", "aria-label": "Help" });
  dialog.append(
    make("header", {}, make("h2", {}, "Help"), button("×", "Close", () => dialog.close())),
    make("dl", { class: "keys" }, ...keys.flatMap(([key, text]) =>
      [make("dt", {}, ...key.split("  ").map((k) => make("kbd", {}, k))), make("dd", {}, text)])),
    make("p", {}, "Times and shares are those of each run's report. A name or dot that is a link to it leads there."),
  );
  const help = button("?", "Help (?)", () => dialog.showModal());

  // The page prints plain ASCII where it works without this script.
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest("script, style, code")) continue;
    const text = node.nodeValue.replace(/(\d) us\b/g, "$1 µs");
    if (text !== node.nodeValue) node.nodeValue = text;
  }

  // A column without a value is no column.
  for (const table of document.querySelectorAll(".scroll table")) {
    const rows = [...table.tBodies[0].rows];
    [...table.tHead.rows[0].cells].forEach((head, i) => {
      const cells = rows.map((row) => row.cells[i]);
      if (cells.length && cells.every((cell) => cell && /^-?$/.test(cell.textContent.trim()))) for (const cell of [head, ...cells]) cell.hidden = true;
    });
  }

  // A drag of at least so many pixels, where `begin` lets it begin; what it chose is then in the link. A finger scrolls the page.
  const whileDragged = (svg, least, begin, choose) => {
    let from = null;
    let moved = false;
    svg.addEventListener("pointerdown", (event) => {
      from = event.button === 0 && event.pointerType !== "touch" && begin(event) ? event : null;
      moved = false;
    });
    svg.addEventListener("pointermove", (event) => {
      if (!from || Math.abs(event.clientX - from.clientX) < least) return;
      svg.setPointerCapture(event.pointerId);
      moved = true;
      choose(from, event);
    });
    svg.addEventListener("pointerup", () => {
      if (from && moved) writeLink();
      from = null;
    });
    svg.addEventListener("pointercancel", () => (from = null));
  };

  // Nights from one to another: each chart shows them and says what it holds of them. Runs are named so that their order is that of their times.
  const UNITS = { ns: 1, "µs": 1e3, us: 1e3, ms: 1e6, s: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
  const nightOf = (link) => link.id.slice(link.id.indexOf(".") + 1);
  const valueOf = (link) => {
    const [, text, day] = /^(.*?) (\d{4}-\d\d-\d\d) /.exec(link.querySelector("title").textContent) || [];
    const [, number, unit] = /^([-+\d.,e]+)\s*([^/]*)/.exec(text) || [];
    return { text, day, amount: parseFloat((number || "").replaceAll(",", "")) * (UNITS[unit] || 1) };
  };
  let nights = null;
  const status = make("p", { class: "nights", role: "status", hidden: "" });
  const showNights = () => {
    const all = new Map();
    for (const svg of charts) {
      for (const old of [...svg.querySelectorAll(".nights"), ...svg.parentElement.querySelectorAll("p.nights")]) old.remove();
      const inside = nights ? [...svg.querySelectorAll("a[id]")].filter((link) => nightOf(link) >= nights[0] && nightOf(link) <= nights[1]) : [];
      if (!inside.length) continue;
      const at = inside.map((link) => Number(link.querySelector("circle").getAttribute("cx")));
      svg.prepend(make("rect", { class: "nights", x: at[0] - 4, width: at.at(-1) - at[0] + 8, y: 6, height: 110 }));
      const values = inside.map(valueOf);
      for (const [i, link] of inside.entries()) all.set(nightOf(link), values[i].day);
      values.sort((a, b) => a.amount - b.amount);
      const middle = [...new Set([values[(values.length - 1) >> 1].text, values[values.length >> 1].text])].join(" to ");
      svg.after(make("p", { class: "nights" }, `${inside.length} of these nights: median ${middle}, from ${values[0].text} to ${values.at(-1).text}.`));
    }
    const days = [...new Set([...all].sort().map(([, day]) => day))];
    status.hidden = !nights;
    status.replaceChildren(...(nights ? [`${all.size} ${all.size === 1 ? "night" : "nights"}, ${days[0] || "none"}${days.length > 1 ? ` to ${days.at(-1)}` : ""} `, button("×", "Clear (Esc)", () => chooseNights(null))] : []));
  };
  const chooseNights = (range) => {
    nights = range && [...range].sort();
    showNights();
    writeLink();
  };
  for (const svg of charts) {
    const near = (x) => {
      const box = svg.getBoundingClientRect();
      const at = ((x - box.left) / box.width) * svg.viewBox.baseVal.width;
      const gap = (link) => Math.abs(Number(link.querySelector("circle").getAttribute("cx")) - at);
      return [...svg.querySelectorAll("a[id]")].reduce((best, link) => (gap(link) < gap(best) ? link : best));
    };
    svg.addEventListener("dragstart", (event) => event.preventDefault());
    whileDragged(svg, 6, () => true, (from, to) => {
      nights = [nightOf(near(from.clientX)), nightOf(near(to.clientX))].sort();
      showNights();
    });
  }

  // Columns of a map of ranks: what each rank did in them, and the way to that time in the ranks' reports.
  const STATES = ["compute", "wait", "transfer", "copy", "mpi"];
  let columns = null; // [number of the map, first, behind the last]
  const time = (ns) => {
    const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]].find(([, each]) => Math.abs(ns) >= each) || ["ns", 1];
    return `${(ns / size).toFixed(size === 1 ? 0 : 2)} ${unit}`;
  };
  const edges = (svg) => {
    const frame = svg.querySelector(".frame");
    const [x, width] = [Number(frame.getAttribute("x")), Number(frame.getAttribute("width"))];
    return { x, width, count: Number(svg.dataset.columns), frame };
  };
  const sumOf = (rank, key) => rank.dataset[key].split(",").slice(columns[1], columns[2]).reduce((sum, value) => sum + Number(value), 0);
  const rankCells = (svg, rank) => {
    const label = rank.querySelector("text").textContent;
    if (!svg.classList.contains("time")) return [label, time(sumOf(rank, "ns"))];
    if (!rank.dataset.compute) return [label, "clock unknown"];
    const { count } = edges(svg);
    const [from, to] = [Number(rank.dataset.from), Number(rank.dataset.to)];
    const [begin, end] = [1, 2].map((side) => Math.round(from + ((to - from) * columns[side]) / count));
    const href = rank.getAttribute("href");
    const shares = STATES.map((state) => `${(sumOf(rank, state) / (10 * (columns[2] - columns[1]))).toFixed(1)} %`);
    return [href ? make("a", { href: `${href}#v=timeline&r=@${begin}~${end}` }, label) : label, ...shares];
  };
  const showColumns = () => {
    for (const svg of maps) {
      for (const old of [...svg.querySelectorAll(".nights"), ...svg.closest("main").querySelectorAll(".columns")]) old.remove();
    }
    const svg = columns && maps[columns[0]];
    if (!svg) return;
    const { x, width, count, frame } = edges(svg);
    const [left, right] = [columns[1], columns[2]].map((column) => x + (width * column) / count);
    svg.append(make("rect", { class: "nights", x: left, width: right - left, y: frame.getAttribute("y"), height: frame.getAttribute("height") }));
    const each = Number(svg.dataset.perColumn);
    const over = svg.classList.contains("time");
    const last = columns[2] * each - 1;
    const said = over ? `${time(columns[1] * each)} to ${time(columns[2] * each)}` : `${svg.dataset.unit} ${columns[1] * each}${last > columns[1] * each ? ` to ${last}` : ""}`;
    const heads = over ? ["rank", "compute", "wait for other ranks", "other communication", "copies", "MPI, else idle"] : ["rank", svg.getAttribute("aria-label").startsWith("How late") ? "late by" : "waited"];
    const cells = (row, tag) => make("tr", {}, ...row.map((cell, i) => make(tag, i ? { class: "number" } : {}, cell)));
    const region = svg.closest(".scroll");
    region.after(make("div", { class: "columns scroll", tabindex: "0", role: "region", "aria-label": "Chosen columns" },
      make("p", { class: "nights", role: "status" }, `${said} `, button("×", "Clear (Esc)", () => chooseColumns(null))),
      make("table", {}, make("thead", {}, cells(heads, "th")), make("tbody", {}, ...[...svg.querySelectorAll(".rank")].map((rank) => cells(rankCells(svg, rank), "td"))))));
  };
  const chooseColumns = (range) => {
    columns = range;
    showColumns();
    writeLink();
  };
  const columnsIn = (text) => {
    const [, map, from, to] = /^(\d+)~(\d+)~(\d+)$/.exec(text) || [];
    const range = [Number(map), Number(from), Number(to)];
    return maps[range[0]] && range[1] < range[2] && range[2] <= edges(maps[range[0]]).count ? range : null;
  };
  for (const [number, svg] of maps.entries()) {
    const column = (event) => {
      const box = svg.getBoundingClientRect();
      const { x, width, count } = edges(svg);
      const at = (((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width - x) / width;
      return Math.max(0, Math.min(count - 1, Math.floor(at * count)));
    };
    const begin = (event) => {
      if (event.target.closest("a")) return false;
      event.preventDefault();
      svg.closest(".scroll").focus({ preventScroll: true });
      return true;
    };
    whileDragged(svg, 3, begin, (from, to) => {
      const [a, b] = [column(from), column(to)];
      columns = [number, Math.min(a, b), Math.max(a, b) + 1];
      showColumns();
    });
    svg.closest(".scroll").addEventListener("keydown", (event) => {
      if (!event.shiftKey || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
      event.preventDefault();
      const [map, first, end] = columns || [];
      if (map !== number) chooseColumns([number, 0, 1]);
      else chooseColumns([number, first, Math.max(first + 1, Math.min(edges(svg).count, end + (event.key === "ArrowLeft" ? -1 : 1)))]);
    });
  }

  // What is chosen is in the link: a dot, row or heading with an id, and nights or columns. A link to one opens what hides it.
  let place = "";
  const writeLink = () => history.replaceState(null, "", `#${encodeURIComponent(place)}${nights ? `&nights=${nights.map(encodeURIComponent).join("~")}` : ""}${columns ? `&columns=${columns.join("~")}` : ""}`);
  const decoded = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return ""; // no address that this page made
    }
  };
  const placeOf = (hash) => document.getElementById(decoded(hash.slice(1)));
  const goTo = () => {
    const [first, ...rest] = location.hash.split("&");
    const [second, third] = ["nights=", "columns="].map((key) => (rest.find((text) => text.startsWith(key)) || "").slice(key.length));
    const wanted = placeOf(first);
    columns = columnsIn(third);
    showColumns();
    if (charts.length) {
      const range = second.split("~").map(decoded);
      nights = range.length === 2 ? range : null;
      showNights();
    }
    place = wanted ? wanted.id : "";
    if (!wanted) return;
    const hidden = wanted.closest("details");
    if (hidden) hidden.open = true;
    wanted.scrollIntoView({ block: "nearest" });
    if (!wanted.contains(document.activeElement) && wanted.matches("a, tr")) wanted.focus();
  };
  document.addEventListener("focusin", (event) => {
    const chosen = event.target.closest("a[id], tr[id]");
    if (!chosen || place === chosen.id) return;
    place = chosen.id;
    writeLink();
  });
  window.addEventListener("hashchange", goTo);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('svg a[id][href^="#"]');
    if (!link) return;
    event.preventDefault(); // it is its own place: the link keeps the nights
    link.focus();
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "?" && !dialog.open) dialog.showModal();
    else if (event.key === "/" && search) search.focus();
    else if (event.key === "Escape" && nights && !dialog.open) chooseNights(null);
    else if (event.key === "Escape" && columns && !dialog.open) chooseColumns(null);
    else if ((event.key === "[" || event.key === "]") && event.target.closest("svg a[id]")) {
      const here = nightOf(event.target);
      const [begin, end] = nights || [here, here];
      chooseNights(event.key === "[" ? [here, end < here ? here : end] : [begin > here ? here : begin, here]);
    }
    else return;
    event.preventDefault();
  });

  wear();
  const tools = document.getElementById("tools");
  tools.append(link, themes, help);
  tools.hidden = false;
  document.body.append(dialog);
  if (charts.length) document.querySelector("main").prepend(status);
  goTo();
})();
