// The list of runs: live, sorted, filtered; its address keeps the state. Rows are rendered by the server.

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`no ${kind.name} with id ${id}`);
  return found;
}

const body = element("rows", HTMLTableSectionElement);
const filter = element("filter", HTMLInputElement);
const compare = element("compare", HTMLButtonElement);
const heads = /** @type {HTMLButtonElement[]} */ ([...document.querySelectorAll("button[data-sort]")]);
const state = new URLSearchParams(location.search);
filter.value = state.get("filter") ?? "";
const chosen = new Set(state.getAll("run"));
let column = Number(state.get("sort") ?? 0);
let isDescending = state.get("order") === "down";

/** @returns {HTMLTableRowElement[]} */
function rows() {
  return [...body.querySelectorAll("tr")].filter((row) => row.dataset.run !== undefined);
}

/** @param {HTMLTableRowElement} row */
function value(row) {
  return row.cells[column].dataset.value ?? "";
}

/**
 * Whether a row has all that is asked for: parts of its name, beginnings of its other cells. So "improved" does not find
 * "not improved".
 * @param {string[]} cells @param {string[]} words @returns {boolean}
 */
function fits(cells, words) {
  if (words.length === 0) return true;
  return words.some((_, last) => {
    const phrase = words.slice(0, last + 1).join(" ");
    return cells.some((cell, i) => (i === 1 ? cell.includes(phrase) : cell.startsWith(phrase))) && fits(cells, words.slice(last + 1));
  });
}

/** A condition on a column of figures, such as `held-out<1`. */
const CONDITION = /^([a-z-]+)(<=|>=|<|>|=)(-?[0-9.]+)$/;
const relations = /** @type {Record<string, (a: number, b: number) => boolean>} */ ({
  "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b, "=": (a, b) => a === b,
});

/** What a word of the filter asks of the figure that a row shows; nothing if it is no condition. @param {string} word */
function condition(word) {
  const [, name, relation, figure] = CONDITION.exec(word) ?? [];
  const head = heads.find((one) => one.dataset.kind === "number" && one.textContent === name);
  if (head === undefined || Number.isNaN(Number(figure))) return undefined;
  return (/** @type {HTMLTableRowElement} */ row) => {
    const shown = parseFloat(row.cells[Number(head.dataset.sort)].textContent ?? "");
    return relations[relation](shown, Number(figure)); // what is not known fits no condition
  };
}

function arrange() {
  const head = heads.find((one) => Number(one.dataset.sort) === column);
  for (const one of heads) {
    const order = one === head ? (isDescending ? "descending" : "ascending") : "none";
    one.closest("th")?.setAttribute("aria-sort", order);
  }
  if (head !== undefined) {
    const isNumber = head.dataset.kind === "number";
    const sorted = rows().sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === "" || y === "") return Number(x === "") - Number(y === ""); // what is not known comes last
      return (isNumber ? Number(x) - Number(y) : x.localeCompare(y)) * (isDescending ? -1 : 1);
    });
    body.append(...sorted);
  }
  const asked = filter.value.toLowerCase().replaceAll(/\s*(<=|>=|<|>|=)\s*/g, "$1").split(/\s+/).filter(Boolean);
  const conditions = asked.map(condition).filter((one) => one !== undefined);
  const words = asked.filter((word) => condition(word) === undefined);
  let shown = 0;
  for (const row of rows()) {
    const cells = [...row.cells].map((cell) => (cell.textContent ?? "").trim().toLowerCase());
    row.hidden = !(fits(cells, words) && conditions.every((holds) => holds(row)));
    shown += Number(!row.hidden);
    const box = row.querySelector("input");
    if (box) box.checked = chosen.has(box.value);
  }
  element("none", HTMLParagraphElement).hidden = shown > 0 || asked.length === 0;
  element("chosen", HTMLSpanElement).textContent = chosen.size
    ? `${chosen.size} chosen`
    : "choose runs to compare";
  compare.disabled = chosen.size === 0;
}

/** Filter and order as an address keeps them. */
function order() {
  const kept = new URLSearchParams();
  if (filter.value) kept.set("filter", filter.value);
  if (column) kept.set("sort", String(column));
  if (column && isDescending) kept.set("order", "down");
  return kept;
}

// The comparison carries them, and leads back to the list as it was.
element("runs", HTMLFormElement).addEventListener("formdata", ({ formData }) => {
  for (const [key, value] of order()) formData.append(key, value);
});

function remember() {
  const kept = order();
  for (const run of chosen) kept.append("run", run);
  history.replaceState(null, "", kept.size ? `?${kept}` : location.pathname);
}

filter.addEventListener("input", () => { arrange(); remember(); });
filter.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
for (const head of heads) {
  head.addEventListener("click", () => {
    const next = Number(head.dataset.sort);
    isDescending = next === column && !isDescending;
    column = next;
    arrange();
    remember();
  });
}
element("choose-shown", HTMLButtonElement).addEventListener("click", () => {
  const names = rows().filter((row) => !row.hidden).map((row) => row.dataset.run ?? "");
  const isAll = names.every((name) => chosen.has(name));
  for (const name of names) if (isAll) chosen.delete(name); else chosen.add(name);
  arrange();
  remember();
});
body.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement)) return;
  if (target.checked) chosen.add(target.value);
  else chosen.delete(target.value);
  arrange();
  remember();
});

/** @param {string} text */
function say(text) {
  const trouble = element("trouble", HTMLParagraphElement);
  trouble.textContent = text;
  trouble.hidden = text === "";
}

async function refresh() {
  const answer = await fetch("/rows");
  const text = await answer.text();
  if (!answer.ok) return say(text);
  const focused = document.activeElement;
  const run = focused instanceof HTMLElement && body.contains(focused) ? focused.closest("tr")?.dataset.run : undefined;
  const isBox = focused instanceof HTMLInputElement;
  body.innerHTML = text;
  arrange();
  const row = rows().find((one) => one.dataset.run === run);
  if (row !== undefined) /** @type {HTMLElement | null} */ (row.querySelector(isBox ? "input" : "a"))?.focus();
  say("");
}

arrange();
let last = "";
const changes = new EventSource("/changes");
changes.addEventListener("message", async ({ data }) => {
  const isFirst = last === "";
  last = data;
  if (isFirst) return; // the page was rendered a moment ago
  try {
    await refresh();
  } catch (error) {
    say(`The program does not answer: ${error}`);
  }
});
