(() => {
  "use strict";
  const source = document.getElementById("activity");
  if (!source) return;
  const at = (id) => document.getElementById(`activity-${id}`);
  const data = JSON.parse(source.textContent);
  const [map, choice, cells, cursor] = [at("map"), at("label"), at("cells"), at("cursor")];
  const [HIGHEST, NOTHING] = [253, 255];
  const shades = [...cells.children];
  const { e: left, f: top, a: wide, d: high } = cells.transform.baseVal.consolidate().matrix;
  const nColumns = Math.ceil(data.nDays / data.days);
  let codes = new Uint8Array();
  let place = null;

  const share = (code) => (code / HIGHEST) ** 2;
  const percent = (value) => `${Number((100 * value).toPrecision(2))} %`;

  function shadeOf(code, highest) {
    if (code === NOTHING) return -1;
    return code ? Math.min(Math.ceil((share(code) / highest) * (shades.length - 1)), shades.length - 1) : 0;
  }

  // Neighbours of one shade in a column become one rectangle.
  function draw() {
    codes = Uint8Array.from(atob(data.maps[choice.selectedIndex]), (c) => c.charCodeAt(0));
    const highest = data.tops[choice.selectedIndex];
    const drawn = shades.map(() => []);
    for (let column = 0; column < nColumns; column++) {
      for (let row = 0; row < data.rows;) {
        const shade = shadeOf(codes[column * data.rows + row], highest);
        let end = row + 1;
        while (end < data.rows && shadeOf(codes[column * data.rows + end], highest) === shade) end++;
        if (shade >= 0) drawn[shade].push(`M${column} ${row}h1v${end - row}h-1z`);
        row = end;
      }
    }
    shades.forEach((path, shade) => path.setAttribute("d", drawn[shade].join("")));
    at("top").textContent = highest ? `${percent(highest)} and more` : "0 %";
    read();
  }

  function days(column) {
    const iso = (offset) => new Date(Date.parse(data.first) + offset * 864e5).toISOString().slice(0, 10);
    const [first, last] = [column * data.days, Math.min((column + 1) * data.days, data.nDays) - 1];
    return first === last ? iso(first) : `${iso(first)} to ${iso(last)}`;
  }

  function time(row) {
    const minutes = (row * 1440) / data.rows;
    return [minutes / 60, minutes % 60].map((n) => String(Math.floor(n)).padStart(2, "0")).join(":");
  }

  function read() {
    cursor.setAttribute("visibility", place ? "visible" : "hidden");
    if (!place) return;
    const [column, row] = place;
    cursor.setAttribute("x", left + column * wide);
    cursor.setAttribute("y", top + row * high);
    const code = codes[column * data.rows + row];
    const value = code === NOTHING ? "nothing recorded" : `${percent(share(code))} ${choice.value}`;
    at("cell").textContent = `${days(column)}, ${time(row)}–${time(row + 1)}: ${value}`;
  }

  const clamp = (value, n) => Math.min(Math.max(value, 0), n - 1);
  function move(columns, rows) {
    const [column, row] = place || [0, 0];
    place = place ? [clamp(column + columns, nColumns), clamp(row + rows, data.rows)] : [0, 0];
    read();
    cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  map.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(...KEYS[event.key]);
  });
  for (const kind of ["pointermove", "pointerdown"]) {
    map.addEventListener(kind, (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(cells.getScreenCTM().inverse());
      const [column, row] = [Math.floor(point.x), Math.floor(point.y)];
      if (column < 0 || column >= nColumns || row < 0 || row >= data.rows) return;
      place = [column, row];
      read();
    });
  }
  choice.addEventListener("change", draw);
  draw();
})();
