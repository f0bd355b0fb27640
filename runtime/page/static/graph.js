// The operator graph: what is hovered is lit, what is filtered is hidden, what is chosen is told beside it.

import { zoomable } from "./zoom.js";

/** What a reader chose; it outlives the panel, which is drawn anew at every step through time. */
const choice = { use: 0, sign: "all", withEnds: false, operator: "", scale: 1 };

/** @param {HTMLElement} panel @param {(operator: string) => Promise<string>} tell gives an operator's part as HTML */
export function drawGraph(panel, tell) {
  const graph = panel.querySelector("svg.graph");
  if (graph === null) return;
  const use = /** @type {HTMLInputElement} */ (panel.querySelector("#least-use"));
  const sign = /** @type {HTMLSelectElement} */ (panel.querySelector("#credit-sign"));
  const ends = /** @type {HTMLInputElement} */ (panel.querySelector("#show-ends"));
  use.value = String(choice.use);
  sign.value = choice.sign;
  ends.checked = choice.withEnds;
  const filter = () => {
    Object.assign(choice, { use: Number(use.value), sign: sign.value, withEnds: ends.checked });
    const shown = panel.querySelector("#least-use-shown");
    if (shown) shown.textContent = use.value;
    graph.classList.toggle("with-ends", choice.withEnds);
    for (const link of graph.querySelectorAll(".link")) {
      const isLess = Number(link.getAttribute("data-use")) < choice.use;
      const isOther = choice.sign !== "all" && !link.classList.contains(choice.sign);
      link.classList.toggle("filtered", isLess || isOther);
    }
  };
  const around = panel.querySelector(".graph-panel");
  if (around instanceof HTMLElement) zoomable(around, choice.scale, (scale) => { choice.scale = scale; });
  for (const control of [use, sign, ends]) control.addEventListener("input", filter);
  filter();
  for (const node of graph.querySelectorAll("a[data-operator]")) {
    const name = node.getAttribute("data-operator") ?? "";
    for (const kind of ["pointerenter", "focus"]) node.addEventListener(kind, () => light(graph, name));
    for (const kind of ["pointerleave", "blur"]) node.addEventListener(kind, () => light(graph, ""));
    node.addEventListener("click", (event) => {
      event.preventDefault();
      choice.operator = name;
      void show(panel, tell);
    });
  }
}

/**
 * Tells of the chosen operator as it is now.
 * @param {HTMLElement} panel @param {(operator: string) => Promise<string>} tell
 */
export function tellOperator(panel, tell) {
  if (choice.operator && panel.querySelector("#operator")) void show(panel, tell);
}

/** @param {HTMLElement} panel @param {(operator: string) => Promise<string>} tell */
async function show(panel, tell) {
  const { operator } = choice;
  const text = await tell(operator);
  const place = panel.querySelector("#operator");
  if (place === null || operator !== choice.operator) return;
  const open = new Set([...place.querySelectorAll("details[open]")].map((details) => details.id));
  place.innerHTML = text;
  for (const details of place.querySelectorAll("details")) details.open = open.has(details.id);
}

/** Lights an operator and its edges, or everything. @param {Element} graph @param {string} name */
function light(graph, name) {
  graph.classList.toggle("looking", name !== "");
  const near = new Set([name]);
  for (const link of graph.querySelectorAll(".link")) {
    const [from, to] = [link.getAttribute("data-from") ?? "", link.getAttribute("data-to") ?? ""];
    const isNear = name !== "" && (from === name || to === name);
    link.classList.toggle("near", isNear);
    if (isNear) near.add(from).add(to);
  }
  for (const node of graph.querySelectorAll(".node")) node.classList.toggle("near", near.has(node.getAttribute("data-name") ?? ""));
}
