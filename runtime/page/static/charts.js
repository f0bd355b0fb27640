// Charts of gaps or scores, drawn by Observable Plot: zoom, reading by keyboard, log axis, export. Texts are set as text.

import { LEADER, linesNamed, markEdits, markTurns } from "./chart_marks.js";

/** @type {any} */
const Plot = /** @type {any} */ (globalThis).Plot;
const COLOURS = { best: "var(--c1)", own: "var(--c2)", validation: "var(--c3)", held: "var(--c4)", edit: "var(--c5)" };

/** Sizes in pixels: of the room above, below, at the left of a chart and at its right for names; width of a chart with no room for names. */
const [ABOVE, BELOW, LEFT, RIGHT, NARROW] = [24, 44, 46, 196, 520];
/** Height of a chart: a share of its width, between two bounds in pixels. */
const [SHARE, LOWEST, HIGHEST] = [0.34, 220, 560];
/** Most generations that are dots, and how far below the plot its axis is named, in pixels. */
const [DOTTED, AXIS_NAME] = [150, 36];
const XLINK = "http://www.w3.org/1999/xlink";

/** What a reader chose, by chart; it outlives the panel, which is drawn anew at every step through time. */
const choices = /** @type {Map<string, {axis: string, isLog: boolean, span: number[] | null, at: number}>} */ (new Map());

/** Draws every chart of a panel. @param {HTMLElement} panel */
export function drawCharts(panel) {
  for (const holder of panel.querySelectorAll("[data-gaps]")) {
    if (holder instanceof HTMLElement) new GapChart(holder);
  }
}

/** @param {string} name @param {Record<string, string>} attributes @param {(Node | string)[]} children */
function make(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** What the program tells of a chart, its rows with the names of their columns. @param {any} told */
function unpacked(told) {
  const named = (/** @type {any[]} */ row) => Object.fromEntries(told.columns.map((/** @type {string} */ name, /** @type {number} */ i) => [name, row[i]]));
  const edits = told.edits.map((/** @type {any[]} */ [generation, seq, text, bringsCode]) => ({ generation, seq, text, bringsCode }));
  const turns = told.turns.map((/** @type {any[]} */ [kind, generation, seq, text, edit]) => ({ kind, generation, seq, text, edit }));
  return { ...told, rows: told.rows.map(named), edits, turns };
}

/** Sign, word of the glossary and text of each kind of mark. @type {Record<string, [string, string, string]>} */
const LEGEND = {
  best: ["●", "training", "best so far, training"], turn: ["○", "training", "new best: why"], own: ["●", "generation", "best of generation"],
  validation: ["◆", "validation", "validation"], checkpoint: ["◇", "checkpoint", "new checkpoint: why"], edit: ["▲", "edit", "accepted edit"],
};
/** Colour of each of them. @type {Record<string, string>} */
const LEGEND_COLOURS = { ...COLOURS, turn: COLOURS.best, checkpoint: COLOURS.validation };

class GapChart {
  /** @param {HTMLElement} holder */
  constructor(holder) {
    this.holder = holder;
    this.frame = { letter: 1, above: ABOVE, below: BELOW, height: LOWEST };
    this.told = unpacked(JSON.parse(holder.dataset.gaps ?? "{}"));
    this.choice = choices.get(holder.id) ?? { axis: "generation", isLog: false, span: null, at: -1 };
    if (!(this.choice.axis in this.told.axes)) this.choice.axis = "generation";
    choices.set(holder.id, this.choice);
    this.figure = make("div", {
      class: "wide plot", tabindex: "0", role: "group",
      "aria-label": `${this.axisName}. Left and right read the generations, plus and minus zoom, 0 shows all, l changes the axis`,
    });
    this.reading = make("p", { class: "reading soft", role: "status" });
    this.below = make("p", { class: "soft" }, this.told.levels.map((/** @type {any} */ l) => `${l.name} ${this.figureText(l.value)}`).join(" · "));
    holder.append(this.tools(), this.figure, this.below, this.reading);
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
    axis.addEventListener("change", () => {
      this.choice.axis = /** @type {HTMLSelectElement} */ (axis).value;
      this.zoom(null);
    });
    this.log = make("button", { type: "button", "aria-pressed": String(this.choice.isLog) }, "log");
    this.log.addEventListener("click", () => this.turnLog());
    const all = make("button", { type: "button", title: "Show all (0)" }, "all");
    all.addEventListener("click", () => this.zoom(null));
    const legend = make("span", { class: "soft legends" });
    for (const [key, [sign, word, text]] of Object.entries(LEGEND)) {
      if (!this.hasMarks(key)) continue;
      const swatch = make("i", { "aria-hidden": "true", style: `color:${LEGEND_COLOURS[key]}` }, sign);
      const name = make("a", { class: "word", href: `#word-${word}`, "aria-describedby": `means-${word}` }, text);
      legend.append(make("span", {}, swatch, " ", name), " "); // lines break at blanks
    }
    const buttons = make("span", { class: "chart-buttons" }, axis, this.log, all);
    const tools = make("div", { class: "chart-tools" }, legend, buttons);
    for (const kind of ["svg", "png", "csv"]) {
      const button = make("button", { type: "button", "aria-label": `Save as ${kind.toUpperCase()}` }, kind.toUpperCase());
      button.addEventListener("click", () => void this.save(kind));
      buttons.append(button);
    }
    return tools;
  }

  /** Whether the chart has marks of a kind. @param {string} kind */
  hasMarks(kind) {
    const { rows, turns, edits } = this.told;
    const isThere = /** @type {Record<string, boolean>} */ ({
      validation: rows.some((/** @type {any} */ row) => row.validation !== null), edit: edits.length > 0,
      turn: turns.some((/** @type {any} */ t) => t.kind === "best"), checkpoint: turns.some((/** @type {any} */ t) => t.kind === "checkpoint"),
    });
    return isThere[kind] ?? true;
  }

  turnLog() {
    this.choice.isLog = !this.choice.isLog;
    this.log?.setAttribute("aria-pressed", String(this.choice.isLog));
    this.draw();
  }

  get rows() {
    return this.told.rows.filter((/** @type {any} */ row) => row.best !== null);
  }

  /** Whole axis of what is told. @returns {number[]} */
  get whole() {
    const places = this.told.rows.map((/** @type {any} */ row) => row[this.choice.axis]);
    const [first, last] = [places[0], places[places.length - 1]];
    return first === last ? [first - 1, last + 1] : [first, last];
  }

  draw() {
    const { axis, isLog, span } = this.choice;
    this.drawnWidth = this.figure.clientWidth;
    const width = Math.max(300, this.drawnWidth);
    const letter = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // larger on wide screens
    const [above, below, left, right] = [ABOVE, BELOW, LEFT, RIGHT].map((size) => size * letter);
    this.frame = { letter, above, below, height: Math.round(Math.min(Math.max(width * SHARE, LOWEST), HIGHEST * letter)) };
    const shown = span ?? this.whole;
    const inside = (/** @type {any} */ row) => row[axis] >= shown[0] && row[axis] <= shown[1];
    const rows = this.rows.filter(inside);
    const places = new Map(this.told.rows.map((/** @type {any} */ row) => [row.generation, row[axis]]));
    const drawable = (/** @type {any[]} */ values) => values.filter((value) => value !== null && (!isLog || value > 0));
    const important = drawable([
      ...rows.flatMap((/** @type {any} */ row) => [row.best, row.validation]),
      ...this.told.levels.map((/** @type {any} */ level) => level.value),
    ]);
    if (important.length === 0) important.push(0.1);
    const [least, most] = [Math.min(...important), Math.max(...important)];
    const reach = most - least; // the interval of two instances may be a hundred times as long as all that is found
    const ends = drawable(rows.flatMap((/** @type {any} */ row) => row.bounds ?? []));
    const [low, high] = [Math.max(Math.min(least, ...ends), isLog ? 0 : least - reach), Math.min(Math.max(most, ...ends), most + reach)];
    const margin = 0.06 * Math.max(high - low, 1e-3);
    const isGap = this.told.measure.word === "gap"; // the 0 of a score means nothing
    const bottom = isLog ? low * 0.85 : isGap ? Math.min(0, low * 1.06) : low - margin;
    const top = isLog ? high * 1.15 : isGap ? Math.max(high * 1.06, bottom + 0.1) : high + margin;
    const positive = (/** @type {number | null} */ value) => value !== null && (!isLog || value > 0);
    const isLong = rows.length > DOTTED; // dots would hide each other
    const isNarrow = width < NARROW * letter; // then lines are named below the chart
    const lines = this.told.levels.filter((/** @type {any} */ l) => positive(l.value));
    const beside = isNarrow || lines.length === 0 ? 14 : right;
    const stacked = markEdits(this.told.edits, places, shown, width - left - beside);
    const turns = markTurns(this.told.turns, inside, this.told.rows);
    const share = (/** @type {number} */ value) => (isLog ? Math.log(value / bottom) / Math.log(top / bottom) : (value - bottom) / (top - bottom));
    const names = linesNamed(lines, share, this.frame, (/** @type {number} */ value) => this.figureText(value));
    const lineColour = (/** @type {any} */ l) => (l.name.startsWith("evolved") ? COLOURS.held : COLOURS.own);
    const turned = (/** @type {string} */ kind, /** @type {any} */ look) => Plot.dot(turns.filter((t) => t.kind === kind && positive(t.value)), {
      x: (/** @type {any} */ t) => t.row[axis], y: "value", fill: "transparent", strokeWidth: 2, href: "to", ariaLabel: "text", title: "text", ...look,
    });
    this.below.hidden = !isNarrow;
    const chart = Plot.plot({
      width, height: this.frame.height, marginLeft: left, marginRight: beside, marginTop: above, marginBottom: below,
      style: { background: "transparent", fontSize: `${12 * letter}px`, fontFamily: "inherit", overflow: "visible" },
      className: "gap-chart",
      x: { domain: shown, label: null, ...(axis === "generation" && shown[1] - shown[0] < 12 ? { ticks: Array.from({ length: Math.floor(shown[1] - shown[0]) + 1 }, (_, i) => Math.ceil(shown[0]) + i), tickFormat: "d" } : {}) },
      y: { domain: [bottom, top], label: this.told.measure.axis, grid: true, clamp: true, ...(isLog ? { type: "log" } : {}) },
      marks: [
        Plot.ruleY(lines, {
          y: "value", stroke: lineColour, strokeDasharray: "6 4", strokeWidth: 1.5,
        }),
        Plot.text([`${this.told.axes[axis]} →`], { frameAnchor: "bottom-right", textAnchor: "end", dy: AXIS_NAME * letter }),
        ...(isNarrow ? [] : names.flatMap(({ text, shift, level }) => [
          Plot.text([level], { y: "value", x: shown[1], text: () => text, textAnchor: "start", dx: (LEADER + 3) * letter, dy: shift, fill: "var(--ink)" }),
          leader(level, shown[1], shift, LEADER * letter, lineColour(level)),
        ])),
        isLong
          ? Plot.line(rows.filter((/** @type {any} */ r) => positive(r.own)), { x: axis, y: "own", stroke: COLOURS.own, strokeWidth: 0.75, strokeOpacity: 0.8 })
          : Plot.dot(rows.filter((/** @type {any} */ r) => positive(r.own)), {
            x: axis, y: "own", r: 2.5, fill: (/** @type {any} */ r) => (r.own > top || r.own < bottom ? "var(--paper)" : COLOURS.own), stroke: COLOURS.own,
          }),
        Plot.line(rows.filter((/** @type {any} */ r) => positive(r.best)), { x: axis, y: "best", stroke: COLOURS.best, strokeWidth: 2.25, curve: "step-after" }),
        ...(isLong ? [] : [Plot.dot(rows.filter((/** @type {any} */ r) => positive(r.best)), { x: axis, y: "best", r: 2.5, fill: COLOURS.best })]),
        Plot.ruleX(rows.filter((/** @type {any} */ r) => r.bounds && positive(r.bounds[0])), {
          x: axis, y1: (/** @type {any} */ r) => r.bounds[0], y2: (/** @type {any} */ r) => r.bounds[1], stroke: COLOURS.validation, strokeWidth: 1.5,
        }),
        Plot.dot(rows.filter((/** @type {any} */ r) => positive(r.validation)), { x: axis, y: "validation", r: 4, symbol: "diamond", fill: COLOURS.validation }),
        turned("best", { symbol: "circle", r: 6, stroke: COLOURS.best }),
        turned("checkpoint", { symbol: "diamond", r: 8, stroke: COLOURS.validation }),
        Plot.dot(stacked, {
          x: "x", frameAnchor: "bottom", dy: 0, symbol: "triangle", r: 4, fill: COLOURS.edit, stroke: "var(--paper)", strokeWidth: 0.5,
          href: (/** @type {any} */ e) => `#code-of-${e.seq}`, ariaLabel: "text", title: "text",
        }),
        Plot.tip(rows, Plot.pointerX({ x: axis, y: "best", title: (/** @type {any} */ r) => this.words(r), fill: "var(--panel)", stroke: "var(--line)" })),
      ],
    });
    this.finish(chart);
    this.chart = chart;
    this.figure.replaceChildren(chart);
    this.read(this.choice.at, false);
  }

  /** Makes the drawing part of the page: its style is the page's, its links are plain. @param {Element} chart */
  finish(chart) {
    chart.querySelector("style")?.remove();
    for (const group of chart.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label");
    chart.setAttribute("role", "group");
    chart.setAttribute("aria-label", `${this.axisName}; the table of generations holds the same figures`);
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

  /** @param {any} row */
  words(row) {
    const text = (/** @type {number | null} */ value) => this.figureText(value);
    const lines = [`generation ${row.generation}`, `best so far ${text(row.best)}`, `best of it ${text(row.own)}`];
    if (row.validation !== null) {
      const { digits } = this.told.measure;
      const bounds = row.bounds ? ` (${row.bounds[0].toFixed(digits)} to ${row.bounds[1].toFixed(digits)}, ${row.instances} instances)` : "";
      lines.push(`validation ${text(row.validation)}${bounds}`);
    }
    lines.push(...this.told.turns.filter((/** @type {any} */ t) => t.generation === row.generation).map((/** @type {any} */ t) => t.text));
    if (row.failed) lines.push(`${row.failed} failed`);
    return lines.join("\n");
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

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.target !== this.figure || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = /** @type {Record<string, () => void>} */ ({
      ArrowRight: () => this.read(this.choice.at + 1), ArrowLeft: () => this.read(this.choice.at - 1),
      "+": () => this.scale(0.5), "-": () => this.scale(2), 0: () => this.zoom(null), l: () => this.turnLog(),
    });
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
    const name = `${document.getElementById("run")?.dataset.run ?? "run"}-convergence.${kind}`;
    if (kind === "csv") {
      const keys = ["generation", "calls", "tokens", "minutes", "best", "own", "validation", "failed"];
      const { word } = this.told.measure;
      const named = keys.map((key) => (["best", "own", "validation"].includes(key) ? `${key}_${word}${word === "gap" ? "_percent" : ""}` : key));
      const lines = this.told.rows.map((/** @type {any} */ row) => keys.map((key) => row[key] ?? "").join(","));
      return download(name, new Blob([[named.join(","), ...lines].join("\n")], { type: "text/csv" }));
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

/**
 * A mark for Plot: a short line from the end of a level to its name.
 * @param {any} level @param {number} end @param {number} shift @param {number} reach @param {string} colour
 */
function leader(level, end, shift, reach, colour) {
  return (/** @type {any} */ _index, /** @type {any} */ { x, y }) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const [from, height] = [x(end), y(level.value)];
    for (const [key, value] of Object.entries({ d: `M${from} ${height}h3L${from + reach} ${height + shift}`, stroke: colour, fill: "none", class: "leader" })) path.setAttribute(key, value);
    return path;
  };
}

/** The drawing with its colours written out, on the page's paper. @param {SVGSVGElement} chart */
function standalone(chart) {
  const style = getComputedStyle(document.documentElement);
  const written = new XMLSerializer().serializeToString(chart);
  const filled = written.replaceAll(/var\((--[a-z0-9]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
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
