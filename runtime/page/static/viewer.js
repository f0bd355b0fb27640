// Solutions of an instance as they improved: stepped or played, and seen as close as one likes.

import { zoomable } from "./zoom.js";

const FRAME_MS = 900;

/** @typedef {{address: string, words: string, seq: number}} Frame */
/** @typedef {{instance: string, frames: Frame[]}} Film */

/** Place in each viewer, kept while the slider moves. @type {Map<string, {film: number, scale: number}>} */
const kept = new Map();

/** @param {Element} panel */
export function showFilms(panel) {
  for (const section of panel.querySelectorAll("section.viewer")) if (section instanceof HTMLElement) show(section);
}

/** @param {HTMLElement} section */
function show(section) {
  const films = /** @type {Film[]} */ (JSON.parse(section.dataset.films ?? "[]"));
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (section.querySelector(name));
  const which = /** @type {HTMLSelectElement} */ (part(".which"));
  const sheet = part(".sheet");
  const before = kept.get(location.pathname) ?? { film: 0, scale: 1 };
  let film = Math.min(before.film, films.length - 1);
  let frame = films[film].frames.length - 1;
  let scale = before.scale;
  let isWaiting = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let playing;

  async function draw() {
    const one = films[film].frames[frame];
    part(".words").textContent = `${one.words} (${frame + 1} of ${films[film].frames.length}), event ${one.seq}`;
    kept.set(location.pathname, { film, scale });
    isWaiting = true;
    const text = await drawing(one.address);
    if (one !== films[film].frames[frame]) return; // the reader went on meanwhile
    isWaiting = false;
    sheet.innerHTML = text;
  }

  /** @param {number} by */
  function step(by) {
    frame = Math.min(Math.max(frame + by, 0), films[film].frames.length - 1);
    void draw();
  }

  function stop() {
    clearInterval(playing);
    playing = undefined;
    part(".run").setAttribute("aria-pressed", "false");
  }

  function play() {
    if (playing !== undefined) return stop();
    if (frame === films[film].frames.length - 1) frame = 0;
    void draw();
    part(".run").setAttribute("aria-pressed", "true");
    playing = setInterval(() => {
      if (!sheet.isConnected || frame === films[film].frames.length - 1) return stop();
      if (!isWaiting) step(1); // a picture that is still being drawn is waited for
    }, FRAME_MS);
  }

  which.value = String(film);
  which.addEventListener("change", () => {
    stop();
    film = Number(which.value);
    frame = films[film].frames.length - 1;
    void draw();
  });
  part(".before").addEventListener("click", () => step(-1));
  part(".after").addEventListener("click", () => step(1));
  part(".run").addEventListener("click", play);
  zoomable(section, scale, (wanted) => {
    scale = wanted;
    kept.set(location.pathname, { film, scale });
  });
  void draw();
}

/** The drawing at an address as part of the page, or what went wrong. @param {string} address */
async function drawing(address) {
  try {
    const answer = await fetch(address);
    if (answer.ok) return await answer.text();
  } catch {
    // told below
  }
  return "<p class='soft'>The program did not send this picture.</p>";
}
