"use strict";
// What stands above a page about many runs, as above a report: the link to this place, the theme, the help.
(() => {
  const KEY = "nsys-ai-theme";
  const THEMES = ["auto", "light", "dark"];
  const root = document.documentElement;
  const search = document.getElementById("search");

  const make = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
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

  // What is chosen is in the link: a dot or a heading with an id. A link to one opens what hides it.
  const placeOf = (hash) => {
    try {
      return document.getElementById(decodeURIComponent(hash.slice(1)));
    } catch {
      return null; // no address that this page made
    }
  };
  const goTo = () => {
    const wanted = placeOf(location.hash);
    if (!wanted) return;
    const hidden = wanted.closest("details");
    if (hidden) hidden.open = true;
    wanted.scrollIntoView({ block: "nearest" });
    if (wanted !== document.activeElement && wanted.matches("a")) wanted.focus();
  };
  document.addEventListener("focusin", (event) => {
    const chosen = event.target.closest("a[id], tr[id]");
    if (chosen && location.hash !== `#${chosen.id}`) history.replaceState(null, "", `#${encodeURIComponent(chosen.id)}`);
  });
  window.addEventListener("hashchange", goTo);

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "?" && !dialog.open) dialog.showModal();
    else if (event.key === "/" && search) search.focus();
    else return;
    event.preventDefault();
  });

  wear();
  const tools = document.getElementById("tools");
  tools.append(link, themes, help);
  tools.hidden = false;
  document.body.append(dialog);
  goTo();
})();
