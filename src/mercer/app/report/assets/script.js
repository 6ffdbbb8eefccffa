(() => {
  const tip = document.getElementById("tip");
  const tips = JSON.parse(document.getElementById("tips").textContent);
  const wordsOf = (el) => el.dataset.i !== undefined ? tips[+el.dataset.i] : el.dataset.tip;
  let hot = null;
  const hide = () => {
    tip.hidden = true;
    if (hot) hot.classList.remove("hot");
    hot = null;
  };
  const show = (el, x, y) => {
    if (el !== hot) {
      hide();
      hot = el;
      if (el.classList.contains("pt")) el.classList.add("hot");
      tip.textContent = wordsOf(el);
      tip.hidden = false;
    }
    const box = tip.getBoundingClientRect();
    const left = Math.min(x + 14, innerWidth - box.width - 8);
    const below = y + 16 + box.height < innerHeight;
    tip.style.left = Math.max(left, 8) + "px";
    tip.style.top = Math.max(below ? y + 16 : y - box.height - 12, 8) + "px";
  };
  document.addEventListener("pointermove", (event) => {
    const el = event.target.closest("[data-i],[data-tip]");
    if (el) show(el, event.clientX, event.clientY);
    else if (document.activeElement !== map) hide();
  });
  document.addEventListener("pointerdown", (event) => {
    const el = event.target.closest("[data-i],[data-tip]");
    if (el) show(el, event.clientX, event.clientY);
  });
  document.addEventListener("pointerleave", hide);
  const map = document.getElementById("points");
  const points = [...document.querySelectorAll(".pt")];
  const at = (p) => [+p.getAttribute("cx"), +p.getAttribute("cy")];
  const go = (p) => {
    const box = p.getBoundingClientRect();
    show(p, box.right, box.bottom);
  };
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  if (map) {
    map.addEventListener("focus", () => { if (!hot && points.length) go(points[points.length - 1]); });
    map.addEventListener("blur", hide);
    map.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return hide();
      const step = steps[event.key];
      if (!step || !points.length) return;
      event.preventDefault();
      const here = hot && hot.classList.contains("pt") ? hot : points[0];
      const [x, y] = at(here);
      let best = null, least = Infinity;
      for (const p of points) {
        const [px, py] = at(p), along = (px - x) * step[0] + (py - y) * step[1];
        if (p === here || along <= 0) continue;
        const across = Math.abs((px - x) * step[1]) + Math.abs((py - y) * step[0]);
        if (along + 2 * across < least) { least = along + 2 * across; best = p; }
      }
      if (best) go(best);
    });
  }
  for (const button of document.querySelectorAll(".legend button")) {
    const fade = (on) => points.forEach((p) =>
      p.classList.toggle("faded", on && !button.dataset.c.split(" ").includes(p.dataset.c)));
    button.addEventListener("pointerenter", () => fade(true));
    button.addEventListener("pointerleave", () => fade(false));
    button.addEventListener("focus", () => fade(true));
    button.addEventListener("blur", () => fade(false));
  }
  const list = document.querySelector("table.list");
  if (!list) return;
  const all = JSON.parse(document.getElementById("rows").textContent);
  const size = 25;
  const body = list.tBodies[0], heads = [...list.tHead.rows[0].cells];
  const box = document.getElementById("search"), found = document.getElementById("found");
  const pager = document.querySelector(".pager"), page = document.getElementById("page");
  const previous = document.getElementById("previous"), following = document.getElementById("following");
  let shown = all, start = 0, column = -1, down = false;
  const draw = () => {
    body.replaceChildren(...shown.slice(start, start + size).map((row) => {
      const line = document.createElement("tr");
      row.forEach((value, k) => {
        const cell = line.insertCell();
        cell.textContent = k === 2 ? Math.round(100 * value) + "%" : value;
        if (k === 2) cell.className = "num";
      });
      return line;
    }));
    found.textContent = shown.length.toLocaleString("en") + (shown.length === 1 ? " row" : " rows");
    page.textContent = shown.length ? `${start + 1} to ${Math.min(start + size, shown.length)}` : "";
    previous.disabled = start === 0;
    following.disabled = start + size >= shown.length;
    pager.hidden = shown.length <= size;
  };
  const order = new Intl.Collator("en", { numeric: true });
  const arrange = () => {
    const words = box.value.trim().toLowerCase();
    shown = all.filter((row) => !words || [0, 1, 3, 4].some((k) => row[k].toLowerCase().includes(words)));
    if (column >= 0) {
      shown.sort((a, b) => (down ? -1 : 1) *
        (column === 2 ? a[2] - b[2] : order.compare(a[column], b[column])));
    }
    start = 0;
    draw();
  };
  heads.forEach((head, k) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      down = column === k && !down;
      column = k;
      heads.forEach((h, m) => h.setAttribute("aria-sort",
        m === k ? (down ? "descending" : "ascending") : "none"));
      arrange();
    });
  });
  box.addEventListener("input", arrange);
  previous.addEventListener("click", () => { start -= size; draw(); });
  following.addEventListener("click", () => { start += size; draw(); });
  draw();
})();
