// What all charts share: tools, zoom, reading by keyboard, a second scale, export. Texts are set as text.

/** @type {any} */
export const Plot = /** @type {any} */ (globalThis).Plot;
/** Sizes in pixels: of the room above, below, and at the left of a chart; how far above its lower end the axis is named. */
const [ABOVE, BELOW, LEFT, AXIS_NAME] = [24, 44, 46, 8];
/** Height of a chart: a share of its width, between two bounds in pixels. */
const [SHARE, LOWEST, HIGHEST] = [0.34, 220, 560];
/** Generations up to which each has its own tick. */
const TICKED = 12;
const XLINK = "http://www.w3.org/1999/xlink";

/** What a reader chose, by chart; it outlives the panel, which is drawn anew at every step through time. */
const choices = /** @type {Map<string, {axis: string, isLog: boolean, span: number[] | null, at: number, row: number}>} */ (new Map());

/** @param {string} name @param {Record<string, string>} attributes @param {(Node | string)[]} children */
export function make(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A chart; what is drawn, said and saved is its kind's. */
export class Chart {
  /** @param {HTMLElement} holder @param {any} told values of the chart: its measure, axes, rows and levels */
  constructor(holder, told) {
    this.holder = holder;
    this.frame = { letter: 1, above: ABOVE, below: BELOW, left: LEFT, height: LOWEST };
    this.told = told;
    this.choice = choices.get(holder.id) ?? { axis: this.firstAxis, isLog: false, span: null, at: -1, row: 0 };
    if (!(this.choice.axis in this.told.axes)) this.choice.axis = this.firstAxis;
    choices.set(holder.id, this.choice);
    this.figure = make("div", {
      class: "wide plot", tabindex: "0", role: "group",
      "aria-label": `${this.axisName}. ${this.help}`,
    });
    this.reading = make("p", { class: "reading soft", role: "status" });
    this.below = make("p", { class: "soft" }, this.levelWords);
    holder.replaceChildren(this.tools(), this.figure, this.below, this.reading);
    this.figure.addEventListener("keydown", (event) => this.key(event));
    this.figure.addEventListener("pointerdown", (event) => this.brush(event), true); // Plot keeps it from who listens later
    this.figure.addEventListener("dblclick", () => this.zoom(null));
    this.draw();
    new ResizeObserver(() => { if (this.figure.clientWidth !== this.drawnWidth) this.draw(); }).observe(this.figure);
  }

  get axisName() {
    const { axis } = this.told.measure;
    return axis[0].toUpperCase() + axis.slice(1);
  }

  /** The axis until a reader chooses another one. */
  get firstAxis() {
    return "generation";
  }

  /** What the keys do. */
  get help() {
    return "Left and right read the generations, plus and minus zoom, 0 shows all, l changes the axis";
  }

  /** Name of the second scale. */
  get scaleName() {
    return "log";
  }

  /** A figure with its unit. @param {number | null} value */
  figureText(value) {
    const { unit, digits } = this.told.measure;
    return value === null ? "failed" : `${value.toFixed(digits)}${unit}`;
  }

  tools() {
    const axis = make("select", { "aria-label": "Axis" });
    for (const [key, name] of Object.entries(this.told.axes)) {
      const option = make("option", { value: key }, `by ${name}`);
      if (key === this.choice.axis) option.setAttribute("selected", "");
      axis.append(option);
    }
    axis.hidden = Object.keys(this.told.axes).length < 2;
    axis.addEventListener("change", () => {
      this.choice.axis = /** @type {HTMLSelectElement} */ (axis).value;
      this.zoom(null);
    });
    this.log = make("button", { type: "button", "aria-pressed": String(this.choice.isLog) }, this.scaleName);
    this.log.addEventListener("click", () => this.turnLog());
    const all = make("button", { type: "button", title: "Show all (0)" }, "all");
    all.addEventListener("click", () => this.zoom(null));
    const buttons = make("span", { class: "chart-buttons" }, axis, this.log, all);
    const tools = make("div", { class: "chart-tools" }, this.legend(), buttons);
    for (const kind of ["svg", "png", "csv"]) {
      const button = make("button", { type: "button", "aria-label": `Save as ${kind.toUpperCase()}` }, kind.toUpperCase());
      button.addEventListener("click", () => void this.save(kind));
      buttons.append(button);
    }
    return tools;
  }

  /** What the marks are. @returns {Node} */
  legend() {
    return make("span", { class: "soft legends" });
  }

  /** Names of lines with their figures, for charts with no room beside them. */
  get levelWords() {
    return this.told.levels.map((/** @type {any} */ l) => `${l.name} ${this.figureText(l.value)}`).join(" · ");
  }

  /** What can be read one by one. @returns {any[]} */
  get rows() {
    return this.told.rows;
  }

  /** What a row says, a line each. @param {any} _row @returns {string} */
  words(_row) {
    throw new Error("each kind of chart says it in its own words");
  }

  /** Lines of the file of figures. @returns {string[]} */
  csv() {
    throw new Error("each kind of chart has its own columns");
  }

  /** Where else the figures are. */
  get alsoIn() {
    return "the file of figures (CSV) holds the same";
  }

  get fileName() {
    return `${document.getElementById("run")?.dataset.run ?? "runs"}-convergence`;
  }

  turnLog() {
    this.choice.isLog = !this.choice.isLog;
    this.log?.setAttribute("aria-pressed", String(this.choice.isLog));
    this.draw();
  }

  /** Whole axis of what is told. @returns {number[]} */
  get whole() {
    const places = this.told.rows.map((/** @type {any} */ row) => row[this.choice.axis]);
    const [first, last] = [places[0], places[places.length - 1]];
    return first === last ? [first - 1, last + 1] : [first, last];
  }

  /** Width of the figure as it is now, in pixels; the heights follow from it. */
  fit() {
    this.drawnWidth = this.figure.clientWidth;
    const width = Math.max(300, this.drawnWidth);
    const letter = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // larger on wide screens
    const height = Math.round(Math.min(Math.max(width * SHARE, LOWEST), HIGHEST * letter));
    this.frame = { letter, above: ABOVE * letter, below: BELOW * letter, left: LEFT * letter, height };
    return width;
  }

  /** Whether the axis can show a value. @param {number | null} value */
  canShow(value) {
    return value !== null && (!this.choice.isLog || value > 0);
  }

  /** Ends of the upward axis: all that is important, and of intervals what is near that. @param {any[]} values @param {any[]} bounds */
  limits(values, bounds) {
    const { isLog } = this.choice;
    const important = values.filter((value) => this.canShow(value));
    if (important.length === 0) important.push(0.1);
    const [least, most] = [Math.min(...important), Math.max(...important)];
    const reach = most - least; // the interval of two instances may be a hundred times as long as all that is found
    const ends = bounds.filter((value) => this.canShow(value));
    const [low, high] = [Math.max(Math.min(least, ...ends), isLog ? 0 : least - reach), Math.min(Math.max(most, ...ends), most + reach)];
    const margin = 0.06 * Math.max(high - low, 1e-3);
    const isGap = this.told.measure.word === "gap"; // the 0 of a score means nothing
    const bottom = isLog ? low * 0.85 : isGap ? Math.min(0, low * 1.06) : low - margin;
    const top = isLog ? high * 1.15 : isGap ? Math.max(high * 1.06, bottom + 0.1) : high + margin;
    return { bottom, top };
  }

  /** The upward axis of figures, as Plot is told of it. @param {number} bottom @param {number} top */
  upward(bottom, top) {
    return { domain: [bottom, top], label: this.told.measure.axis, grid: true, clamp: true, ...(this.choice.isLog ? { type: "log" } : {}) };
  }

  /** Puts marks between axes. @param {number} width @param {number[]} shown @param {any} upward @param {number} beside @param {any[]} marks @param {any} across more that Plot is told of the axis to the right */
  put(width, shown, upward, beside, marks, across = {}) {
    const { axis } = this.choice;
    const { letter, above, below, left, height } = this.frame;
    const isTicked = axis === "generation" && shown[1] - shown[0] < TICKED;
    const ticks = Array.from({ length: Math.floor(shown[1] - shown[0]) + 1 }, (_, i) => Math.ceil(shown[0]) + i);
    const chart = Plot.plot({
      width, height, marginLeft: left, marginRight: beside, marginTop: above, marginBottom: below,
      style: { background: "transparent", width: `${width}px`, fontSize: `${12 * letter}px`, fontFamily: "inherit", overflow: "visible" },
      className: "gap-chart",
      x: { domain: shown, label: null, ...(isTicked ? { ticks, tickFormat: "d" } : {}), ...across },
      y: upward,
      marks: [Plot.text([`${this.told.axes[axis]} →`], { frameAnchor: "bottom-right", textAnchor: "end", dy: below - AXIS_NAME * letter }), ...marks],
    });
    this.finish(chart);
    this.chart = chart;
    this.figure.replaceChildren(chart);
    this.read(this.choice.at, false);
  }

  draw() {
    throw new Error("each kind of chart draws its own marks");
  }

  /** Makes the drawing part of the page: its style is the page's, its links are plain. @param {Element} chart */
  finish(chart) {
    chart.querySelector("style")?.remove();
    for (const group of chart.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label");
    chart.setAttribute("role", "group");
    chart.setAttribute("aria-label", `${this.axisName}; ${this.alsoIn}`);
    for (const link of chart.querySelectorAll("a")) {
      const mark = link.querySelector("path, circle");
      const to = link.getAttribute("href") ?? link.getAttributeNS(XLINK, "href") ?? "";
      link.removeAttributeNS(XLINK, "href");
      link.setAttribute("href", to);
      link.setAttribute("aria-label", mark?.getAttribute("aria-label") ?? "edit");
      const [, seq, panel] = /^(?:\?seq=([0-9]+))?#([a-z]+)$/.exec(to) ?? []; // a place of this page
      if (panel !== undefined) link.setAttribute("data-panel", panel);
      if (seq !== undefined) link.setAttribute("data-seq", seq);
    }
  }

  /** Says a generation in words. @param {number} at @param {boolean} isAsked */
  read(at, isAsked = true) {
    const { rows } = this;
    if (at < 0 && !isAsked) return;
    this.choice.at = Math.min(Math.max(at, 0), rows.length - 1);
    const row = rows[this.choice.at];
    if (row) this.reading.textContent = this.words(row).replaceAll("\n", ", ");
  }

  /** @param {number[] | null} span */
  zoom(span) {
    this.choice.span = span;
    this.draw();
  }

  /** @param {number} factor */
  scale(factor) {
    const [first, last] = this.choice.span ?? this.whole;
    const row = this.rows[this.choice.at];
    const middle = row ? row[this.choice.axis] : (first + last) / 2;
    const reach = ((last - first) * factor) / 2;
    const [from, to] = this.whole;
    const next = [Math.max(from, middle - reach), Math.min(to, middle + reach)];
    if (next[1] - next[0] > 0) this.zoom(next[0] === from && next[1] === to ? null : next);
  }

  /** What keys do. @returns {Record<string, () => void>} */
  get keys() {
    return {
      ArrowRight: () => this.read(this.choice.at + 1), ArrowLeft: () => this.read(this.choice.at - 1),
      "+": () => this.scale(0.5), "-": () => this.scale(2), 0: () => this.zoom(null), l: () => this.turnLog(),
    };
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.target !== this.figure || event.ctrlKey || event.metaKey || event.altKey) return;
    const { keys } = this;
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  }

  /** Zooms into what is dragged over. @param {PointerEvent} down */
  brush(down) {
    if (down.button !== 0 || down.pointerType === "touch" || (down.target instanceof Element && down.target.closest("a"))) return;
    const scale = this.chart.scale("x");
    const [left, right] = scale.range;
    const pixel = (/** @type {PointerEvent} */ event) => {
      const box = this.chart.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * Number(this.chart.getAttribute("width"));
      return Math.min(Math.max(x, left), right);
    };
    const from = pixel(down);
    const band = make("div", { class: "brush", "aria-hidden": "true" });
    const away = new AbortController();
    addEventListener("pointermove", (move) => {
      const [a, b] = [from, pixel(move)].sort((x, y) => x - y);
      band.style.cssText = `left:${a}px;width:${b - a}px;top:${this.frame.above}px;height:${this.frame.height - this.frame.above - this.frame.below}px`;
      if (!band.isConnected && b - a > 4) this.figure.append(band);
    }, { signal: away.signal });
    for (const end of ["pointerup", "pointercancel"]) {
      addEventListener(end, (up) => {
        away.abort();
        band.remove();
        const [a, b] = [from, pixel(/** @type {PointerEvent} */ (up))].sort((x, y) => x - y);
        if (end === "pointerup" && b - a > 8) this.zoom([scale.invert(a), scale.invert(b)]);
      }, { signal: away.signal });
    }
  }

  /** @param {string} kind */
  async save(kind) {
    const name = `${this.fileName}.${kind}`;
    if (kind === "csv") {
      return download(name, new Blob([this.csv().join("\n")], { type: "text/csv" }));
    }
    const text = standalone(this.chart);
    if (kind === "svg") return download(name, new Blob([text], { type: "image/svg+xml" }));
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob && download(name, blob));
    return undefined;
  }
}

/** The drawing with its colours written out, on the page's paper. @param {SVGSVGElement} chart */
function standalone(chart) {
  const style = getComputedStyle(document.documentElement);
  const written = new XMLSerializer().serializeToString(chart);
  const filled = written.replaceAll(/var\((--[a-z0-9]+)\)/g, (_, name) => style.getPropertyValue(name).trim())
    .replaceAll(/rgb\(([0-9]+) ([0-9]+) ([0-9]+)\)/g, "rgb($1,$2,$3)"); // as every program reads it
  const paper = getComputedStyle(document.body).backgroundColor;
  return filled.replace("<svg ", `<svg color="${style.getPropertyValue("--ink").trim()}" `)
    .replace("background: transparent", `background: ${paper}`).replace("font-family: inherit", "font-family: sans-serif");
}

/** @param {string} name @param {Blob} blob */
function download(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  URL.revokeObjectURL(/** @type {HTMLAnchorElement} */ (link).href);
}
