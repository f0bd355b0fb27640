// Moves through the time of one run. All content is rendered and escaped by the server.

import "./act.js";
import { drawCharts } from "./charts.js";
import { drawGraph, tellOperator } from "./graph.js";
import { drawHeat } from "./heat.js";
import { showFilms } from "./viewer.js";

/** @template {HTMLElement} T @param {string} id @param {new () => T} kind @returns {T} */
function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`no ${kind.name} with id ${id}`);
  return found;
}

const main = element("run", HTMLElement);
const slider = element("slider", HTMLInputElement);
const panel = element("panel", HTMLDivElement);
const trouble = element("trouble", HTMLParagraphElement);
const buttons = Object.fromEntries(
  ["play", "back", "forth", "earlier", "later", "best", "live"].map((id) => [id, element(id, HTMLButtonElement)]),
);
const tabs = /** @type {HTMLButtonElement[]} */ ([...document.querySelectorAll("[role=tab]")]);
const base = `/runs/${encodeURIComponent(main.dataset.run ?? "")}`;

let length = Number(main.dataset.length);
/** @type {number[]} */
let marks = [];
let best = 1;
let shown = tabs[0].dataset.panel ?? "overview";
let isLive = true;
/** @type {ReturnType<typeof setInterval> | undefined} */
let playing;
/** What the log says of its generations and its best program, once the page knows. */
let told = Promise.resolve();
let wanted = 0;
let isFetching = false;
/** Element, or event of an edit, that the next drawn panel opens and shows. */
let sought = "";
/** @type {Map<string, string>} */
const texts = new Map();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let addressing;

/** Shows the panel for the slider's place; only the newest of several requests is drawn. */
async function show() {
  wanted += 1;
  if (isFetching) return;
  isFetching = true;
  let done = 0;
  while (done !== wanted) {
    done = wanted;
    try {
      const place = `${shown}?seq=${slider.value}`;
      const slow = setTimeout(() => wait(true), 150);
      const have = [...panel.children].map((part) => (part instanceof HTMLElement ? part.dataset.part : "")).join(" ");
      const answer = await fetch(`${base}/${place}`, { headers: { "x-dga2d-have": have } });
      const text = await answer.text();
      clearTimeout(slow);
      if (answer.ok) replace(text, place);
      say(answer.ok ? "" : inWords(text));
    } catch (error) {
      say(`The program does not answer: ${error}`);
    }
    wait(false);
  }
  isFetching = false;
}

/**
 * Puts the parts that changed in place; what was open, scrolled or focused stays so.
 * @param {string} text the parts of a panel @param {string} place what it shows
 */
function replace(text, place) {
  panel.dataset.shown = place;
  const came = document.createElement("template");
  came.innerHTML = text;
  const open = new Map([...panel.querySelectorAll("details")].map((details) => [details.id, details.open]));
  const offsets = [...panel.querySelectorAll("pre, .wide")].map(({ scrollTop, scrollLeft }) => [scrollTop, scrollLeft]);
  const focused = focusable().findIndex((one) => one === document.activeElement);
  const count = came.content.childElementCount;
  const fresh = [...came.content.children].map((part, at) => put(part, panel.children[at])).filter((part) => part !== undefined);
  while (panel.children.length > count) panel.lastElementChild?.remove();
  for (const part of fresh) {
    for (const drawing of part.querySelectorAll(".incumbent")) void fill(drawing);
    drawCharts(part);
    drawHeat(part);
    showFilms(part);
    drawGraph(part, tell);
    for (const details of part.querySelectorAll("details")) {
      details.open = open.get(details.id) ?? details.open;
      if (details.open) void fill(details);
    }
  }
  tellOperator(panel, tell);
  if (fresh.length) {
    [...panel.querySelectorAll("pre, .wide")].forEach((one, index) => {
      const [top, left] = offsets[index] ?? [0, 0];
      if (top || left) [one.scrollTop, one.scrollLeft] = [top, left];
    });
  }
  if (sought) void seek();
  else if (focused >= 0 && document.activeElement === document.body) (focusable()[focused] ?? panel).focus({ preventScroll: true });
}

/**
 * Puts a part where another one stands, unless that is the same: then the program sends it empty.
 * @param {Element} part @param {Element | undefined} before @returns {HTMLElement | undefined} what is new
 */
function put(part, before) {
  if (!(part instanceof HTMLElement) || (before instanceof HTMLElement && before.dataset.part === part.dataset.part)) return undefined;
  const here = document.importNode(part, true);
  if (before === undefined) panel.append(here);
  else before.replaceWith(here);
  return here;
}

/** Shows what a link led to; what is listed farther back is opened for it. */
async function seek() {
  const names = [sought, `edit-${sought}`, `code-of-${sought}`];
  const find = () => names.map((id) => document.getElementById(id)).find((one) => one !== null && panel.contains(one));
  sought = "";
  for (const details of find() ? [] : panel.querySelectorAll("details.earlier")) {
    if (!(details instanceof HTMLDetailsElement)) continue;
    details.open = true;
    await fill(details);
  }
  const wished = find();
  if (!(wished instanceof HTMLElement)) return;
  if (wished instanceof HTMLDetailsElement) wished.open = true;
  wished.scrollIntoView({ block: "center" });
  (wished.querySelector("summary") ?? panel).focus({ preventScroll: true });
}

/** Part of the page about an operator. @param {string} operator */
async function tell(operator) {
  const answer = await fetch(`${base}/operator?seq=${slider.value}&name=${encodeURIComponent(operator)}`);
  const text = await answer.text();
  if (!answer.ok) say(inWords(text));
  return answer.ok ? text : "";
}

/** @returns {HTMLElement[]} */
function focusable() {
  return [...panel.querySelectorAll("a, summary, [tabindex]")].filter((one) => one instanceof HTMLElement);
}

/** What is under way or in place, by the element that it fills. @type {WeakMap<HTMLElement, {source: string, done: Promise<void>}>} */
const fills = new WeakMap();

/** Fetches what an element stands for, once. @param {Element} around @returns {Promise<void>} */
function fill(around) {
  const place = around.querySelector("[data-source]");
  if (!(place instanceof HTMLElement)) return Promise.resolve();
  const source = `${place.dataset.source ?? ""}${place.dataset.moves === undefined ? "" : `?seq=${slider.value}`}`;
  const before = fills.get(place);
  if (before?.source === source) return before.done;
  const done = bring(place, source);
  fills.set(place, { source, done });
  return done;
}

/** @param {HTMLElement} place @param {string} source */
async function bring(place, source) {
  try {
    const answer = texts.has(source) ? null : await fetch(source);
    const text = texts.get(source) ?? (await answer?.text()) ?? "";
    const isGood = answer?.ok ?? true;
    if (isGood && place.dataset.moves === undefined) texts.set(source, text);
    else fills.delete(place);
    place.innerHTML = isGood ? text : "";
    say(isGood ? "" : inWords(text));
  } catch (error) {
    fills.delete(place);
    say(`The program does not answer: ${error}`);
  }
}

/** Shows that the panel is being made. @param {boolean} isWaiting */
function wait(isWaiting) {
  panel.setAttribute("aria-busy", String(isWaiting));
  const words = element("waiting", HTMLParagraphElement);
  words.hidden = !isWaiting;
  if (!isWaiting) words.textContent = "Reading the log …"; // only the first time all of it is read
}

/** @param {string} text an error as the program answers it */
function inWords(text) {
  try {
    return String(JSON.parse(text).error ?? text);
  } catch {
    return text;
  }
}

/** @param {string} text */
function say(text) {
  trouble.textContent = text;
  trouble.hidden = text === "";
}

/** @param {number} seq @param {boolean} live */
function goTo(seq, live = false) {
  setLive(live);
  slider.value = String(Math.min(Math.max(seq, 1), length));
  element("seq", HTMLOutputElement).textContent = slider.value;
  clearTimeout(addressing); // browsers refuse more than some changes of the address per second
  addressing = setTimeout(() => {
    const place = isLive ? location.pathname : `?seq=${slider.value}`;
    history.replaceState(null, "", `${place}#${shown}`);
  }, 300);
  void show();
}

/** @param {boolean} live */
function setLive(live) {
  isLive = live;
  buttons.live.setAttribute("aria-pressed", String(live));
}

function stop() {
  clearInterval(playing);
  playing = undefined;
  buttons.play.setAttribute("aria-pressed", "false");
}

function play() {
  if (playing !== undefined) return stop();
  if (Number(slider.value) >= length) goTo(1); // whoever plays at the end sees it all again
  buttons.play.setAttribute("aria-pressed", "true");
  playing = setInterval(() => {
    if (Number(slider.value) >= length) return stop();
    goTo(Number(slider.value) + 1);
  }, 150);
}

/** @param {number} step */
function generation(step) {
  const here = Number(slider.value);
  const next = step > 0 ? marks.find((mark) => mark > here) : marks.filter((mark) => mark < here).pop();
  goTo(next ?? (step > 0 ? length : 1));
}

/** @param {HTMLButtonElement} tab */
function select(tab) {
  for (const one of tabs) {
    one.setAttribute("aria-selected", String(one === tab));
    one.tabIndex = one === tab ? 0 : -1;
  }
  shown = tab.dataset.panel ?? shown;
  panel.setAttribute("aria-labelledby", tab.id);
  goTo(Number(slider.value), isLive);
}

const actions = {
  play,
  back: () => goTo(Number(slider.value) - 1),
  forth: () => goTo(Number(slider.value) + 1),
  earlier: () => told.then(() => generation(-1)),
  later: () => told.then(() => generation(1)),
  best: () => told.then(() => goTo(best)),
  live: () => goTo(length, true),
};
for (const [id, action] of Object.entries(actions)) buttons[id].addEventListener("click", action);
slider.addEventListener("input", () => goTo(Number(slider.value)));
for (const tab of tabs) {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.stopPropagation();
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    next.focus();
    select(next);
  });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
  if (event.target.matches(event.key === " " ? "button, summary, a, input" : "input, pre, .wide")) return;
  const keys = /** @type {Record<string, () => void>} */ ({
    " ": actions.play, ArrowLeft: actions.back, ArrowRight: actions.forth, PageUp: actions.earlier,
    PageDown: actions.later, b: actions.best, End: actions.live, Home: () => goTo(1),
  });
  if (!Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});
panel.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[data-seq], a[data-panel], a[href^='#code-of-']") : null;
  if (link === null) return;
  event.preventDefault();
  const seq = link.getAttribute("data-seq");
  const name = link.getAttribute("data-panel");
  if (name !== null) {
    sought = link.getAttribute("data-open") ?? "";
    const tab = tabs.find((one) => one.dataset.panel === name);
    if (seq !== null) goTo(Number(seq));
    if (tab !== undefined) select(tab);
  } else if (seq !== null) goTo(Number(seq));
  else showEdit((link.getAttribute("href") ?? "").replace("#code-of-", ""));
});

/** Opens the lineage at an edit, and its difference. @param {string} seq event of the edit */
function showEdit(seq) {
  const tab = tabs.find((one) => one.dataset.panel === "lineage");
  if (tab === undefined) return;
  sought = seq;
  select(tab);
}

panel.addEventListener(
  "toggle",
  ({ target }) => {
    if (target instanceof HTMLDetailsElement && target.open) void fill(target);
  },
  true, // these events do not bubble
);

/** Learns how far the log has got, and follows it. */
async function refresh() {
  const answer = await fetch(`${base}/facts`);
  if (!answer.ok) return say(inWords(await answer.text()));
  const facts = await answer.json();
  const hasGrown = facts.length > length;
  ({ length, marks } = facts);
  best = facts.best_seq;
  main.dataset.best = String(best);
  main.dataset.marks = marks.join(",");
  slider.max = String(length);
  element("length", HTMLElement).textContent = String(length);
  element("marks", HTMLDataListElement).replaceChildren(...marks.map((mark) => new Option("", String(mark))));
  if (isLive && hasGrown) goTo(length, true);
}

const stream = new EventSource(`${base}/stream?after=${length}`);
let isRefreshing = false;
stream.addEventListener("message", async () => {
  if (isRefreshing) return; // one look at the log covers all events until it is answered
  isRefreshing = true;
  await new Promise((resolve) => setTimeout(resolve, 100));
  isRefreshing = false;
  try {
    await refresh();
  } catch (error) {
    say(`The program does not answer: ${error}`);
  }
});

/** The tab of the panel that the address names. */
function named() {
  return tabs.find((one) => `#${one.dataset.panel}` === location.hash);
}

const asked = Number(new URLSearchParams(location.search).get("seq"));
if (asked >= 1) slider.value = String(asked);
setLive(asked < 1);
select(named() ?? tabs[0]);
told = refresh().catch((error) => say(`The program does not answer: ${error}`));
addEventListener("hashchange", () => {
  const tab = named(); // somebody wrote another panel into the address, or followed a link that does
  if (tab !== undefined && tab.dataset.panel !== shown) select(tab);
});
