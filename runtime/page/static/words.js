// Explains the words of the page: beside a word that is pointed at or focused, and in the list at its end.

const list = document.getElementById("words");
const box = document.createElement("div");
box.className = "tip";
box.hidden = true;
box.setAttribute("aria-hidden", "true"); // who hears the page is told by the word's own description
document.body.append(box);
/** The word that is explained. @type {Element | null} */
let shown = null;

/** What an element's word means. @param {Element} one */
function meaning(one) {
  const name = one.getAttribute("data-word") ?? (one.getAttribute("href") ?? "").replace("#word-", "");
  return document.getElementById(`means-${name}`)?.textContent ?? "";
}

/** @param {EventTarget | null} target */
function wordAt(target) {
  return target instanceof Element ? target.closest("a.word, [data-word]") : null;
}

/** Shows the meaning right below a word, or above it where the window ends, and within the window. @param {Element} one */
function show(one) {
  one.removeAttribute("title"); // which the browser would show, too
  box.textContent = meaning(one);
  box.hidden = box.textContent === "";
  shown = one;
  const at = one.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const edge = document.documentElement.clientWidth;
  box.style.left = `${Math.max(0, Math.min(at.left, edge - width))}px`;
  box.style.top = `${at.bottom + height > innerHeight ? at.top - height : at.bottom}px`;
}

function hide() {
  box.hidden = true;
  shown = null;
}

/** The word that has the keyboard's focus. */
function focusedWord() {
  const one = wordAt(document.activeElement);
  return one?.matches(":focus-visible") ? one : null;
}

document.addEventListener("pointerover", (event) => {
  const one = wordAt(event.target);
  if (one !== null && event.pointerType !== "touch") show(one);
  else if (event.target !== box && focusedWord() === null) hide();
});
document.addEventListener("focusin", () => {
  const one = focusedWord();
  if (one !== null) show(one);
  else hide();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
});
// The explanation of a focused word goes along, as the focus itself may move the page; that of one pointed at ends.
addEventListener("scroll", () => {
  const one = focusedWord();
  if (one !== null && one === shown) show(one);
  else hide();
}, { passive: true });

/** Opens the list at the word that the address names. */
function seek() {
  const term = location.hash.startsWith("#word-") ? document.getElementById(location.hash.slice(1)) : null;
  if (!(list instanceof HTMLDetailsElement) || term === null) return;
  hide();
  list.open = true;
  term.scrollIntoView({ block: "center" });
  term.focus({ preventScroll: true });
}

addEventListener("hashchange", seek);
document.addEventListener("click", (event) => {
  const link = wordAt(event.target);
  if (link?.getAttribute("href") === location.hash) seek(); // the address does not change then
});
const panel = document.getElementById("panel");
if (panel === null) seek();
else if (location.hash.startsWith("#word-")) {
  const asked = location.hash;
  new MutationObserver((_, observer) => { // the list lies below the panel, which is not there yet
    observer.disconnect();
    location.hash = asked;
    seek();
  }).observe(panel, { attributeFilter: ["data-shown"] });
}
