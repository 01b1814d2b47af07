"use strict";
// Filters, sorting and one column of choice. Without it the page shows everything, the worst first.
(() => {
  const table = document.getElementById("runs");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const $ = (id) => document.getElementById(id);
  const values = new Map();
  for (const [metric, run, text, number] of JSON.parse($("values").textContent)) {
    if (!values.has(metric)) values.set(metric, new Map());
    values.get(metric).set(run, [text, number]);
  }

  const fill = (id, key) => {
    const select = $(id);
    if (!select) return;
    for (const value of [...new Set(rows.map((r) => r.dataset[key]))].filter(Boolean).sort()) {
      select.append(new Option(value, value));
    }
  };
  fill("status", "status");
  fill("series", "series");
  $("filters").hidden = false;
  $("filters").addEventListener("submit", (event) => event.preventDefault());

  const chosen = (id) => ($(id) ? $(id).value : "");
  // What is chosen stands in the link.
  const inputs = ["search", "status", "series", "rule", "metric"];
  const remember = () => {
    const head = table.querySelector("th[aria-sort]");
    const state = new URLSearchParams(inputs.filter(chosen).map((id) => [id, chosen(id)]));
    if (head) state.set("sort", `${head.dataset.down === "1" ? "" : "-"}${heads.indexOf(head)}`);
    const hash = state.toString();
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  };
  const recall = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const id of inputs) {
      if (!$(id)) continue;
      $(id).value = state.get(id) || "";
      if ($(id).selectedIndex === -1) $(id).value = "";
    }
    const [, again, at] = /^(-?)(\d+)$/.exec(state.get("sort") || "") || [];
    if (heads[at]) sort(heads[at]);
    if (heads[at] && again) sort(heads[at]);
    filter();
    showMetric();
  };

  const filter = () => {
    const words = chosen("search").toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const d = row.dataset;
      const text = `${row.textContent} ${d.rules} ${d.labels}`.toLowerCase();
      const fits = words.every((w) => text.includes(w)) && (!chosen("status") || d.status === chosen("status")) &&
        (!chosen("series") || d.series === chosen("series")) &&
        (!chosen("rule") || d.rules.split(" ").includes(chosen("rule")));
      row.hidden = !fits;
      shown += fits;
    }
    $("shown").textContent = `${shown} of ${rows.length}`;
  };

  const showMetric = () => {
    const of = values.get(chosen("metric"));
    for (const cell of table.querySelectorAll(".metric")) cell.hidden = !of;
    table.querySelector("th.metric button").textContent = chosen("metric");
    for (const row of rows) {
      const [text, number] = (of && of.get(row.dataset.id)) || ["", ""];
      row.cells[row.cells.length - 1].textContent = text.replace(/(\d) us\b/g, "$1 µs");
      row.cells[row.cells.length - 1].dataset.order = number;
    }
  };

  const units = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, min: 6e10, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
  const number = (cell) => {
    if (cell.dataset.order !== undefined && cell.dataset.order !== "") return Number(cell.dataset.order);
    const [, digits, unit] = /^<?([\d.,]+)\s*(\S*)/.exec(cell.textContent) || [];
    return digits ? Number(digits.replaceAll(",", "")) * (units[unit] || 1) : -Infinity;
  };
  const heads = [...table.tHead.querySelectorAll("th[data-sort]")];
  const sort = (head) => {
    const at = head.cellIndex;
    // Texts from A, everything else from the largest or worst; again turns it round.
    const down = head.dataset.down !== "1";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.dataset.down = down ? "1" : "0";
    head.setAttribute("aria-sort", (head.dataset.sort === "text") === down ? "ascending" : "descending");
    const by = head.dataset.sort === "text"
      ? (a, b) => a.cells[at].textContent.localeCompare(b.cells[at].textContent, "en", { numeric: true })
      : (a, b) => number(b.cells[at]) - number(a.cells[at]);
    rows.sort((a, b) => (down ? by(a, b) : by(b, a)));
    body.append(...rows);
  };
  // A button each, so that the keyboard sorts, too.
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      sort(head);
      remember();
    });
    head.append(button);
  }

  for (const id of ["search", "status", "series", "rule"]) {
    if ($(id)) $(id).addEventListener("input", filter);
  }
  $("metric").addEventListener("input", showMetric);
  $("filters").addEventListener("input", remember);
  window.addEventListener("hashchange", recall);
  recall();
})();
