// Filter, sort and copy. The page is whole without it: nothing here makes content.
(() => {
  const table = document.getElementById("query-table");
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (table && table.contains(target)) target.hidden = false;
    for (const details of target.querySelectorAll(":scope > details, :scope > tr > td > details")) details.open = true;
    for (let node = target.parentElement; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  if (location.hash.length > 1) open();

  // Numbers first to last, what has none at the end; the first click shows the worst.
  const sort = (sorted, head, direction) => {
    const key = head.dataset.sort;
    const value = (row) => (row.dataset[key] === "" ? NaN : Number(row.dataset[key]));
    const rows = Array.from(sorted.tBodies);
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return direction * (x - y) || a.dataset.order - b.dataset.order;
    });
    for (const other of sorted.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    sorted.append(...rows);
  };
  for (const sorted of document.querySelectorAll("[data-sortable]")) {
    for (const head of sorted.tHead.querySelectorAll("[data-sort]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      const first = Number(head.dataset.first || 1);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        sort(sorted, head, now ? (now === "ascending" ? -1 : 1) : first);
      });
    }
  }
  for (const chips of document.querySelectorAll(".chips")) {
    const entries = Array.from(document.getElementById(chips.dataset.in).querySelectorAll(chips.dataset.entries));
    const said = chips.querySelector("output");
    const show = (chosen) => {
      const kind = chosen.dataset.kind;
      let shown = 0;
      for (const entry of entries) {
        entry.hidden = kind !== "" && !entry.dataset.kinds.split(" ").includes(kind);
        if (!entry.hidden) shown += 1;
      }
      for (const button of chips.querySelectorAll("button")) button.setAttribute("aria-pressed", button === chosen);
      const [some, all] = [shown, entries.length].map((count) => count.toLocaleString("en"));
      said.textContent = shown === entries.length ? "" : `${some} of ${all} shown`;
    };
    chips.addEventListener("click", (event) => {
      const chosen = event.target.closest("button");
      if (chosen) show(chosen);
    });
    // A link to an entry that is hidden shows all of them.
    addEventListener("hashchange", () => {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (target && target.closest("[hidden]")) show(chips.querySelector("button"));
    });
    chips.hidden = false;
  }
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const [id, label] = [button.dataset.copy, button.textContent];
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(id ?? code.textContent);
        button.textContent = "Copied";
      } catch {
        button.parentElement.classList.add("open");
        if (code) getSelection().selectAllChildren(code);
        button.textContent = code ? "Press Ctrl+C" : id;
      }
      setTimeout(() => (button.textContent = label), 2000);
    });
  }
  if (!table) return;

  const rows = Array.from(table.tBodies);
  const tools = document.getElementById("query-tools");
  const [text, verdict, category] = ["text", "verdict", "category"].map((name) => tools.querySelector(`[name=${name}]`));
  const said = tools.querySelector("output");
  const words = new Map();
  const wordsOf = (row) => {
    if (!words.has(row)) words.set(row, row.textContent.toLowerCase());
    return words.get(row);
  };
  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden =
        (verdict.value !== "" && row.dataset.verdict !== verdict.value) ||
        (category !== null && category.value !== "" && row.dataset.category !== category.value) ||
        (wanted !== "" && !wordsOf(row).includes(wanted));
      if (!row.hidden) shown += 1;
    }
    const [some, all] = [shown, rows.length].map((count) => count.toLocaleString("en"));
    said.textContent = shown === rows.length ? `all ${all} shown` : `${some} of ${all} shown`;
  };
  for (const field of [text, verdict, category]) if (field) field.addEventListener("input", filter);

  // A click anywhere on a row opens it; selecting text or following a link does not.
  table.addEventListener("click", (event) => {
    const row = event.target.closest("tr.ask-row");
    if (!row || event.target.closest("a, button, summary") || String(getSelection())) return;
    const details = row.parentElement.querySelector("details");
    if (details) details.open = !details.open;
  });
  tools.hidden = false;
  filter();
})();
