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
