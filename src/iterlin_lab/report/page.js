// On a phone, a drawing gives way to its variant of one column, where that lies beside this page.
if (matchMedia("screen and (max-width: 34rem)").matches) {
  for (const place of document.querySelectorAll("[data-column]")) {
    const image = new Image();
    image.alt = place.firstElementChild.getAttribute("aria-label");
    image.onload = () => place.replaceChildren(image);
    image.src = place.dataset.column;
  }
}

// The table of claims: its headings sort it, and buttons above it leave the rows of one verdict.
// `?verdict=supported&sort=verdict` does both.
const claims = [...document.querySelectorAll("table")].find((table) => table.rows[0].cells[0].textContent === "id");
if (claims) {
  const [body, headings] = [claims.tBodies[0], [...claims.rows[0].cells]];
  const verdict = (row) => row.querySelector("strong").textContent;
  const asked = new URLSearchParams(location.search);
  const button = (text, place, act) => {
    const made = place.appendChild(document.createElement("button"));
    made.textContent = text;
    made.onclick = act;
    return made;
  };

  const filters = document.createElement("p");
  const show = (chosen) => {
    for (const row of body.rows) row.hidden = chosen && verdict(row) !== chosen;
    for (const filter of filters.children) filter.ariaPressed = filter.value === chosen;
  };
  const verdicts = ["", ...new Set([...body.rows].map(verdict))];
  for (const name of verdicts) {
    const count = [...body.rows].filter((row) => !name || verdict(row) === name).length;
    button(`${name || "all"} (${count})`, filters, () => show(name)).value = name;
  }
  claims.parentElement.before(filters);
  show(verdicts.find((name) => name === asked.get("verdict")) ?? "");

  const sort = (column) => {
    const falling = headings[column].ariaSort === "ascending";
    const text = (row) => row.cells[column].textContent;
    const rows = [...body.rows].sort((one, other) => text(one).localeCompare(text(other), "en", { numeric: true }));
    body.append(...(falling ? rows.reverse() : rows));
    for (const heading of headings) heading.ariaSort = "none";
    headings[column].ariaSort = falling ? "descending" : "ascending";
  };
  headings.forEach((heading, column) => {
    const name = heading.textContent;
    heading.textContent = "";
    button(name, heading, () => sort(column));
    if (asked.get("sort") === name) sort(column);
  });
}

// In a drawing, point at an entry of its legend, or at what has its colour: all else that the legend names fades.
// A click keeps it so, and another one ends that.
const drawn = (shape) => (shape.href ? [shape, document.querySelector(shape.href.baseVal)] : [shape]);
const chromatic = (colour) => {
  const parts = colour.match(/[\d.]+/g).slice(0, 3);
  return Math.max(...parts) - Math.min(...parts) > 8;
};
const look = (shape) => {
  const styles = drawn(shape).map((part) => getComputedStyle(part));
  const colours = styles.flatMap(({ stroke, fill }) => [stroke, fill]).filter((colour) => colour.startsWith("rgb"));
  return colours.find(chromatic) ?? colours[0];
};
const clipped = (shape) => shape.closest("[clip-path]") || getComputedStyle(shape).clipPath !== "none";  // no axis
const entries = (drawing) => {
  const shapes = [...drawing.querySelectorAll("path, use, rect")].filter((shape) => !shape.closest("defs, clipPath"));
  const looks = new Map(shapes.map((shape) => [shape, look(shape)]));
  const handles = shapes
    .map((shape) => [shape, shape.getBoundingClientRect()])
    .filter(([, { width, height }]) => width < 50 && (width > 12 || Math.min(width, height) > 3));  // no ticks
  const named = new Map();
  for (const text of drawing.querySelectorAll("text:not([transform*='rotate(-90'])")) {
    const own = text.getBoundingClientRect();
    const beside = ({ right, top, bottom }) =>
      own.left > right && own.left < right + own.height && Math.abs(top + bottom - own.top - own.bottom) < own.height;
    const [handle] = handles.find(([, place]) => beside(place)) ?? [];
    if (handle) named.set(text, looks.get(handle)).set(handle, looks.get(handle));
  }
  const legend = new Set(named.values());
  for (const [shape, own] of looks) if (legend.has(own) && clipped(shape)) named.set(shape, own);
  return named;
};
const drawings = document.querySelectorAll(".wide svg");
if (drawings.length) {
  const hint = document.querySelector("nav").appendChild(document.createElement("p"));
  hint.textContent = "Point at an entry of a legend to see it alone, and click to keep it so.";
}
for (const drawing of drawings) {
  let named, kept;
  const show = (chosen) => {
    for (const [part, own] of named) part.style.opacity = chosen && own !== chosen ? 0.12 : "";
  };
  drawing.onpointerenter = () => (named ??= entries(drawing));
  drawing.onpointerover = ({ target }) => {
    target.style.cursor = named.has(target) ? "pointer" : "";
    if (!kept) show(named.get(target));
  };
  drawing.onpointerleave = () => kept || show();
  drawing.onclick = ({ target }) => show((kept = kept ? undefined : named.get(target)));
}
