// A picture on a stage that is seen as close as one likes: by keyboard, buttons, wheel and dragging. Arrows scroll it.

const CLOSEST = 16;

/**
 * Lets a stage zoom the sheet in it.
 * @param {HTMLElement} around holds the buttons `.closer`, `.farther` and `.whole`, and `.stage` with `.sheet` in it
 * @param {number} scale at the beginning @param {(scale: number) => void} keep hears of every change
 */
export function zoomable(around, scale, keep) {
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (around.querySelector(name));
  const [stage, sheet] = [part(".stage"), part(".sheet")];

  /** @param {number} wanted */
  function zoom(wanted) {
    const center = [(stage.scrollLeft + stage.clientWidth / 2) / stage.scrollWidth, (stage.scrollTop + stage.clientHeight / 2) / stage.scrollHeight];
    scale = Math.min(Math.max(wanted, 1), CLOSEST);
    sheet.style.width = `${100 * scale}%`;
    sheet.style.setProperty("--scale", String(scale));
    stage.scrollLeft = center[0] * stage.scrollWidth - stage.clientWidth / 2;
    stage.scrollTop = center[1] * stage.scrollHeight - stage.clientHeight / 2;
    keep(scale);
  }

  part(".closer").addEventListener("click", () => zoom(scale * 1.5));
  part(".farther").addEventListener("click", () => zoom(scale / 1.5));
  part(".whole").addEventListener("click", () => zoom(1));
  stage.addEventListener("keydown", (event) => {
    const wanted = { "+": scale * 1.5, "-": scale / 1.5, 0: 1 }[event.key];
    if (wanted === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    zoom(wanted);
  });
  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // else the page scrolls as ever
    event.preventDefault();
    zoom(scale * (event.deltaY < 0 ? 1.2 : 1 / 1.2));
  }, { passive: false });
  stage.addEventListener("pointerdown", (event) => {
    const isLink = event.target instanceof Element && event.target.closest("a") !== null;
    if (event.button === 0 && event.pointerType === "mouse" && !isLink) stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    if (stage.hasPointerCapture(event.pointerId)) stage.scrollBy(-event.movementX, -event.movementY);
  });
  if (scale > 1) zoom(scale);
}
