"use strict";
(() => {
  const data = JSON.parse(document.getElementById("recording").textContent);
  const at = (id) => document.getElementById(id);
  const [player, plots, cursor] = [at("player"), at("plots"), at("cursor")];
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const edges = new Float32Array(bytes(data.curves.edges).buffer);
  const values = bytes(data.curves.values);
  const wave = data.wave && {
    step: data.wave.step,
    low: new Int8Array(bytes(data.wave.low).buffer),
    high: new Int8Array(bytes(data.wave.high).buffer),
  };
  const duration = Math.max(data.duration, 0.001);
  // Labels that may hold at once have a lane each; else all segments share one.
  const lanes = data.lanes || 1;
  const laneOf = (segment) => (data.lanes ? segment[2] : 0);
  const reach = [];  // how far all segments up to each go: where they overlap, a later one may end earlier
  for (const segment of data.segments) reach.push(Math.max(segment[1], reach.length ? reach[reach.length - 1] : 0));
  const shortest = Math.min(0.05, duration);
  const view = { from: 0, to: duration };
  let position = 0;

  // --- colours that stay apart for the colour-blind (Okabe and Ito), and patterns that need no colour

  const COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#0072b2", "#d55e00", "#999999"];
  const STROKES = [[], [[0, 8, 8, 0]], [[4, 3, 4, 5]], [[0, 4, 8, 4]], [[0, 0, 8, 8]], [[4, 0, 4, 8]], [[0, 0, 8, 8], [0, 8, 8, 0]]];
  const tiles = data.names.map((_, index) => {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const pen = tile.getContext("2d");
    pen.fillStyle = COLOURS[index % COLOURS.length];
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = "rgba(0, 0, 0, 0.45)";
    for (const [x0, y0, x1, y1] of STROKES[index % STROKES.length]) {
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
    }
    return tile;
  });
  const swatches = tiles.map((tile) => `url(${tile.toDataURL()})`);

  // --- time and place

  const width = () => plots.clientWidth || 1;
  const place = (time) => ((time - view.from) / (view.to - view.from)) * width();
  const moment = (x) => view.from + (x / width()) * (view.to - view.from);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  function clock(seconds) {
    const tenths = Math.round(seconds * 10);
    const two = (n) => String(n).padStart(2, "0");
    const [hours, minutes] = [Math.floor(tenths / 36000), Math.floor(tenths / 600) % 60];
    const lead = hours ? `${hours}:${two(minutes)}` : `${minutes}`;
    return `${lead}:${two(Math.floor((tenths % 600) / 10))}.${tenths % 10}`;
  }

  function segmentAt(time) {
    let [low, high] = [0, data.segments.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (reach[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Those that hold at a moment: one, or with lanes several or none.
  function segmentsAt(time) {
    const found = [];
    for (let index = segmentAt(time); index < data.segments.length && data.segments[index][0] <= time; index++) {
      if (data.segments[index][1] > time) found.push(index);
    }
    return found;
  }

  function columnAt(time) {
    let [low, high] = [0, edges.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (edges[middle + 1] <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // --- drawing

  function pen(id) {
    const canvas = at(id);
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * scale);
    canvas.height = Math.round(canvas.clientHeight * scale);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    return [context, canvas.clientWidth, canvas.clientHeight];
  }
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function drawWave() {
    const [draw, wide, high] = pen("wave");
    if (!wave) return;
    draw.fillStyle = ink("--faint");
    for (let x = 0; x < wide; x++) {
      const first = Math.floor(moment(x) / wave.step);
      const last = Math.min(Math.max(Math.ceil(moment(x + 1) / wave.step), first + 1), wave.low.length);
      let [low, top] = [127, -128];
      for (let bin = Math.max(first, 0); bin < last; bin++) {
        low = Math.min(low, wave.low[bin]);
        top = Math.max(top, wave.high[bin]);
      }
      if (top >= low) draw.fillRect(x, (high / 2) * (1 - top / 127), 1, Math.max(((top - low) / 254) * high, 1));
    }
  }

  function meanColumn(x) {
    const n = data.curves.names.length;
    const sums = new Array(n).fill(0);
    const [first, last] = [columnAt(moment(x)), columnAt(moment(x + 1))];
    for (let row = first; row <= last; row++) {
      for (let k = 0; k < n; k++) sums[k] += values[row * n + k] || 0;
    }
    const total = data.lanes ? 255 * (last - first + 1) : sums.reduce((a, b) => a + b, 0) || 1;
    return sums.map((sum) => sum / total);
  }

  function drawBands(draw, high, from, columns) {
    const n = data.curves.names.length;
    data.curves.names.forEach((name, k) => {
      draw.fillStyle = draw.createPattern(tiles[name], "repeat");
      columns.forEach((column, i) => {
        const tall = (high / n) * column[k];
        draw.fillRect(from + i, (high * (k + 1)) / n - tall, 1, tall);
      });
    });
  }

  function drawPosteriors() {
    const [draw, wide, high] = pen("posteriors");
    if (!values.length) return;
    const from = Math.max(Math.floor(place(edges[0])), 0);
    const to = Math.min(Math.ceil(place(edges[edges.length - 1])), wide);
    const columns = [];
    for (let x = from; x < to; x++) columns.push(meanColumn(x));
    if (data.lanes) {
      drawBands(draw, high, from, columns);
      return;
    }
    const below = new Array(columns.length).fill(0);
    data.curves.names.forEach((name, k) => {
      const above = below.map((sum, i) => sum + columns[i][k]);
      draw.fillStyle = draw.createPattern(tiles[name], "repeat");
      draw.beginPath();
      draw.moveTo(from, high * (1 - (below[0] || 0)));
      above.forEach((sum, i) => { draw.lineTo(from + i, high * (1 - sum)); draw.lineTo(from + i + 1, high * (1 - sum)); });
      for (let i = below.length - 1; i >= 0; i--) {
        draw.lineTo(from + i + 1, high * (1 - below[i]));
        draw.lineTo(from + i, high * (1 - below[i]));
      }
      draw.fill();
      above.forEach((sum, i) => { below[i] = sum; });
    });
  }

  const percent = (p) => (p === null ? "–" : `${(100 * p).toFixed(1)} %`);
  const said = ([start, end, name, posterior]) =>
    `${data.names[name]} ${clock(start)} to ${clock(end)}${posterior === null ? "" : `, ${percent(posterior)}`}`;

  const brief = ([, , name, posterior]) => `${data.names[name]}${posterior === null ? "" : ` ${percent(posterior)}`}`;

  function inView() {
    const found = [];
    for (let index = segmentAt(view.from); index < data.segments.length && data.segments[index][0] < view.to; index++) {
      if (data.segments[index][1] > view.from) found.push(index);
    }
    return found;
  }

  function drawSegments() {
    const [draw, , high] = pen("strip");
    const buttons = [];
    for (const index of inView()) {
      const segment = data.segments[index];
      const [left, right] = [Math.max(place(segment[0]), 0), Math.min(place(segment[1]), width())];
      if (right - left >= 3) {
        buttons.push(segmentButton(index, left, right));
      } else {
        draw.fillStyle = COLOURS[segment[2] % COLOURS.length];
        const tall = high / lanes;
        draw.fillRect(left, laneOf(segment) * tall + 4, Math.max(right - left, 0.5), tall - 8);
      }
    }
    at("segments").replaceChildren(...buttons);
  }

  function segmentButton(index, left, right) {
    const segment = data.segments[index];
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.segment = index;
    button.title = said(segment);
    button.setAttribute("aria-label", said(segment));
    button.style.left = `${left}px`;
    button.style.width = `${right - left}px`;
    button.style.top = `${44 * laneOf(segment) + 4}px`;
    button.style.background = swatches[segment[2]];
    if (right - left > 24) {
      const text = document.createElement("span");
      text.textContent = data.names[segment[2]];
      button.append(text);
    }
    return button;
  }

  function drawAxis() {
    const [draw, wide] = pen("axis");
    const steps = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200];
    const step = steps.find((s) => (s / (view.to - view.from)) * wide > 70) || 14400;
    draw.fillStyle = ink("--faint");
    draw.font = "12px system-ui, sans-serif";
    for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) {
      draw.fillRect(place(i * step), 0, 1, 5);
      draw.fillText(step < 0.1 ? (i * step).toFixed(2) : clock(i * step), place(i * step) + 3, 15);
    }
  }

  const MOST_LISTED = 200;
  function listSegments() {
    const found = inView();
    const rows = [];
    for (const index of found.slice(0, MOST_LISTED)) {
      const [start, end, name, posterior, second, secondPosterior] = data.segments[index];
      const row = document.createElement("tr");
      row.dataset.segment = index;
      const runner = second === null ? "" : `${data.names[second]} ${percent(secondPosterior)}`;
      const texts = [clock(start), clock(end), data.names[name], percent(posterior)];
      for (const text of data.lanes ? texts : [...texts, runner]) {
        row.append(Object.assign(document.createElement("td"), { textContent: text }));
      }
      const swatch = Object.assign(document.createElement("span"), { className: "swatch" });
      swatch.style.setProperty("--swatch", swatches[name]);
      row.children[2].prepend(swatch);
      rows.push(row);
    }
    at("list").tBodies[0].replaceChildren(...rows);
    const left = found.length - rows.length;
    at("more").textContent = left ? `and ${left} more in view: zoom in to list them` : "";
  }

  function drawLegend() {
    const used = new Set([...data.curves.names, ...data.segments.map((segment) => segment[2])]);
    const items = [...used].sort((a, b) => a - b).map((name) => {
      const item = document.createElement("li");
      item.textContent = data.names[name];
      item.style.setProperty("--swatch", swatches[name]);
      return item;
    });
    at("legend").replaceChildren(...items);
  }

  function drawCursor() {
    const x = place(position);
    cursor.hidden = x < 0 || x > width();
    cursor.style.left = `${x}px`;
    const now = segmentsAt(position);
    at("now").textContent = [clock(position), ...now.map((index) => (data.lanes ? brief : said)(data.segments[index]))].join(" · ");
    for (const marked of document.querySelectorAll("[data-segment].now")) marked.classList.remove("now");
    for (const index of now) {
      for (const mark of document.querySelectorAll(`[data-segment="${index}"]`)) mark.classList.add("now");
    }
  }

  for (const id of ["strip", "segments"]) at(id).style.height = `${44 * lanes}px`;

  let awaited = 0;
  function redraw() {
    if (awaited) return;
    awaited = requestAnimationFrame(() => {
      awaited = 0;
      for (const draw of [drawWave, drawPosteriors, drawSegments, drawAxis, listSegments, drawCursor]) draw();
    });
  }

  // --- moving

  function show(from, to) {
    const span = clamp(to - from, shortest, duration);
    view.from = clamp(from, 0, duration - span);
    view.to = view.from + span;
    redraw();
  }

  function zoom(factor, centre = clamp(position, view.from, view.to)) {
    show(centre - (centre - view.from) * factor, centre + (view.to - centre) * factor);
  }

  function follow() {
    const span = view.to - view.from;
    if (position < view.from || position > view.to) show(position - span / 10, position + (span * 9) / 10);
  }

  // One seek at a time: browsers lose a seek that comes while another is under way.
  let wanted = null;
  function seekPlayer(time) {
    if (player.seeking) wanted = time;
    else player.currentTime = time;
  }

  function seeked() {
    if (wanted !== null) player.currentTime = wanted;
    wanted = null;
    tick();
  }

  function seek(time) {
    position = clamp(time, 0, duration);
    if (player) seekPlayer(position);
    follow();
    drawCursor();
  }

  const seekSegment = (index) => data.segments[index] && seek(data.segments[index][0]);

  // Segments may start together, or in another: what comes next starts later, and a player may be a little early.
  function turnTo(step) {
    const starts = data.segments.map((segment) => segment[0]);
    const now = starts.findLast((start) => start <= position + 0.02) ?? 0;
    const other = step > 0 ? starts.find((start) => start > now) : starts.findLast((start) => start < now);
    if (starts.length) seek(other ?? now);
  }

  let ticking = 0;
  function tick() {
    cancelAnimationFrame(ticking);
    position = wanted === null ? player.currentTime : wanted;
    follow();
    drawCursor();
    if (!player.paused) ticking = requestAnimationFrame(tick);
  }

  const KEYS = {
    " ": () => player && (player.paused ? player.play().catch(() => {}) : player.pause()),
    ArrowLeft: (event) => seek(position - (event.shiftKey ? 1 : 5)),
    ArrowRight: (event) => seek(position + (event.shiftKey ? 1 : 5)),
    ArrowUp: () => turnTo(-1),
    ArrowDown: () => turnTo(1),
    Home: () => seek(0),
    End: () => seek(duration),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    0: () => show(0, duration),
  };

  document.addEventListener("keydown", (event) => {
    const own = event.target.closest("audio") || (event.target.closest("button") && event.key === " ");
    if (own || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key](event);
  });

  at("zoom-in").addEventListener("click", () => zoom(0.5));
  at("zoom-out").addEventListener("click", () => zoom(2));
  at("fit").addEventListener("click", () => show(0, duration));
  at("list").addEventListener("click", (event) => {
    const row = event.target.closest("[data-segment]");
    if (row) seekSegment(Number(row.dataset.segment));
  });
  plots.addEventListener("wheel", (event) => {
    event.preventDefault();
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    const shift = (sideways / width()) * (view.to - view.from);
    if (Math.abs(sideways) > 0) show(view.from + shift, view.to + shift);
    else zoom(event.deltaY > 0 ? 1.25 : 0.8, moment(event.clientX - plots.getBoundingClientRect().left));
  }, { passive: false });
  plots.addEventListener("click", (event) => {
    const button = event.target.closest("[data-segment]");
    if (button) seekSegment(Number(button.dataset.segment));
    else seek(moment(event.clientX - plots.getBoundingClientRect().left));
    if (event.detail) plots.focus({ preventScroll: true }); // by pointer: the next space plays
  });
  if (player) {
    player.addEventListener("play", tick);
    player.addEventListener("seeked", seeked);
    player.addEventListener("timeupdate", () => player.paused && tick());
  }
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  drawLegend();
  redraw();
})();
