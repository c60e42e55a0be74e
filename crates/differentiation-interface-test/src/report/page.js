"use strict";
const table = document.querySelector("table");
const body = table.tBodies[0];
const heads = [...table.tHead.rows[0].cells];

// What is missing goes last, whichever way the column is sorted.
function compare(column, down) {
  const figure = heads[column].classList.contains("figure");
  const value = (row) => {
    const cell = row.cells[column];
    return figure ? Number(cell.dataset.value || "NaN") : cell.textContent;
  };
  return (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (figure) {
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return down ? y - x : x - y;
    }
    return down ? y.localeCompare(x) : x.localeCompare(y);
  };
}

heads.forEach((head, column) => {
  head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...[...body.rows].sort(compare(column, down)));
  });
});

document.querySelector("input").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/);
  for (const row of body.rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
});
