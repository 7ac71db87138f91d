(() => {
  "use strict";
  const bar = document.getElementById("listen");
  if (!bar) return;
  const addresses = JSON.parse(document.getElementById("addresses").textContent);
  const [player, text] = [bar.querySelector("audio"), document.getElementById("listening")];
  const buttons = [...document.querySelectorAll("button[data-audio]")];
  let current = buttons[0];

  function mark() {
    for (const button of document.querySelectorAll("tr.now button")) {
      button.textContent = "▶";
      button.closest("tr").classList.remove("now");
    }
    current.textContent = player.paused ? "▶" : "❚❚";
    current.closest("tr").classList.add("now");
  }

  function play(button) {
    current = button;
    const { audio, start, end } = button.dataset;
    text.textContent = button.title;
    player.src = `${addresses[audio]}#t=${start},${end}`;
    player.play().catch(() => {}); // one that is stopped by the next, or cannot be played: see "error"
    mark();
  }

  const isOver = () => player.ended || player.currentTime >= Number(current.dataset.end) - 0.02;
  function turn(button) {
    if (button !== current || isOver()) play(button);
    else if (player.paused) player.play().catch(() => {});
    else player.pause();
  }

  function step(button, by) {
    const next = buttons[buttons.indexOf(button) + by];
    if (!next) return;
    next.focus();
    if (!player.paused) play(next);
  }

  const KEYS = { ArrowUp: -1, ArrowDown: 1 };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-audio]");
    if (button) turn(button);
  });
  document.addEventListener("keydown", (event) => {
    const button = event.target.closest("button[data-audio]");
    if (!button || !KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    step(button, KEYS[event.key]);
  });
  for (const kind of ["play", "pause", "ended"]) player.addEventListener(kind, mark);
  player.addEventListener("error", () => {
    text.textContent = `cannot be played: ${current.title}`;
    mark();
  });
})();
