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
  document.addEventListener("pointermove", (event) => {
    const el = event.target.closest("[data-i],[data-tip]");
    if (!el) return hide();
    if (el !== hot) {
      hide();
      hot = el;
      if (el.classList.contains("pt")) el.classList.add("hot");
      tip.textContent = wordsOf(el);
      tip.hidden = false;
    }
    const box = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
    const below = event.clientY + 16 + box.height < innerHeight;
    const y = below ? event.clientY + 16 : event.clientY - box.height - 12;
    tip.style.left = Math.max(x, 8) + "px";
    tip.style.top = Math.max(y, 8) + "px";
  });
  document.addEventListener("pointerleave", hide);
  const points = [...document.querySelectorAll(".pt")];
  for (const button of document.querySelectorAll(".legend button")) {
    const show = (on) => points.forEach((p) =>
      p.classList.toggle("faded", on && !button.dataset.c.split(" ").includes(p.dataset.c)));
    button.addEventListener("pointerenter", () => show(true));
    button.addEventListener("pointerleave", () => show(false));
    button.addEventListener("focus", () => show(true));
    button.addEventListener("blur", () => show(false));
  }
})();
