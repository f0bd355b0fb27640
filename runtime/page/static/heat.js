// Heat maps: a figure for each pair of a row and a column, which are operators and generations, or both operators.

import { Chart, Plot, make } from "./chart.js";

/** Sizes in pixels: of a row, of the line of its name where that stands above it, of the least and the largest column, of a column with figures in it. */
const [ROW, NAME, LEAST, LARGEST, LETTERED] = [19, 16, 10, 96, 52];
/** Largest part of the width that names of rows may have at the left of them. */
const NAMES = 0.4;
/** Steps of the key's colours to either side of zero, and pixels of each. */
const [STEPS, STEP] = [5, 9];
/** Part of its colour that a figure near zero has. */
const FAINTEST = 0.06;

/** Milliseconds after which what is not on the screen is drawn, unless a step through time has replaced it. */
const REST = 250;
/** Heights of heat maps as they were drawn last, by their names, so that nothing below moves until they are there. @type {Map<string, number>} */
const heights = new Map();

/** Draws every heat map of a panel: at once what is on the screen, the others when time rests. @param {HTMLElement} panel */
export function drawHeat(panel) {
  for (const holder of panel.querySelectorAll("[data-heat]")) {
    if (!(holder instanceof HTMLElement)) continue;
    holder.style.minHeight = `${heights.get(holder.id) ?? 0}px`;
    const { top, bottom } = holder.getBoundingClientRect();
    if (top < innerHeight && bottom >= 0) drawOne(holder);
    else setTimeout(() => holder.isConnected && drawOne(holder), REST);
  }
}

/** @param {HTMLElement} holder */
function drawOne(holder) {
  new HeatChart(holder);
  holder.style.minHeight = "";
  heights.set(holder.id, holder.offsetHeight);
}

/** What the program tells, with the place of each column on the axis. @param {any} told */
function unpacked(told) {
  const isTime = told.columns.every((/** @type {any} */ column) => typeof column === "number");
  const columns = told.columns.map((/** @type {any} */ column, /** @type {number} */ i) => ({ name: String(column), at: isTime ? column : i, i }));
  const largest = Math.max(0, ...told.values.flat().map((/** @type {number | null} */ value) => Math.abs(value ?? 0)));
  return { ...told, isTime, names: told.rows, rows: columns, axes: { at: told.sides[1] }, levels: [], largest: largest || 1 };
}

class HeatChart extends Chart {
  /** @param {HTMLElement} holder */
  constructor(holder) {
    super(holder, unpacked(JSON.parse(holder.dataset.heat ?? "{}")));
    this.below.hidden = true;
  }

  get axisName() {
    return this.holder.dataset.label ?? "";
  }

  get firstAxis() {
    return "at";
  }

  get help() {
    const [row, column] = this.told.sides;
    return `Up and down choose ${row}, left and right ${column}; plus and minus zoom, 0 shows all, l changes the scale of colours`;
  }

  get scaleName() {
    return "linear";
  }

  get fileName() {
    return `${document.getElementById("run")?.dataset.run ?? "run"}-${this.holder.id}`;
  }

  /** @returns {number[]} */
  get whole() {
    const { rows } = this.told;
    return [rows[0].at - 0.5, rows[rows.length - 1].at + 0.5];
  }

  legend() {
    return make("span", { class: "soft legends" }, make("span", {}, "point at a cell for its figure, drag to zoom"));
  }

  get keys() {
    const { names } = this.told;
    const turn = (/** @type {number} */ step) => {
      this.choice.row = (this.choice.row + step + names.length) % names.length;
      this.read(Math.max(0, this.choice.at));
    };
    return { ...super.keys, ArrowUp: () => turn(-1), ArrowDown: () => turn(1) };
  }

  /** Sizes of the drawing: names stand at the left of their rows, or above where there is no room. */
  fit() {
    super.fit();
    const letter = this.frame.letter;
    const room = Math.max(280, this.drawnWidth ?? 0);
    const widest = Math.max(...this.told.names.map((/** @type {string} */ name) => textWidth(name, this.figure, letter)));
    this.isAbove = widest > NAMES * room;
    const left = this.isAbove ? 4 * letter : widest + 10 * letter;
    const width = Math.min(room, left + 14 * letter + this.told.rows.length * LARGEST * letter);
    const column = (width - left - 14 * letter) / this.told.rows.length;
    const longest = this.told.isTime ? 0 : Math.max(...this.told.rows.map((/** @type {any} */ c) => textWidth(c.name, this.figure, letter)));
    this.turned = longest < column ? 0 : this.isAbove ? -90 : -45;
    const deep = longest * Math.sin((-this.turned * Math.PI) / 180);
    const below = Math.min(30 * letter + Math.max(deep, 14 * letter), 220 * letter);
    const row = (this.isAbove ? ROW + NAME : ROW) * letter;
    const above = 30 * letter;
    this.frame = { letter, above, below, left, height: above + below + row * this.told.names.length };
    return Math.max(width, 260 * letter);
  }

  /** Figures to draw; where a column would be too narrow, several are one with their mean. @param {number[]} shown @param {number} room pixels */
  cells(shown, room) {
    const { rows, names, values } = this.told;
    const seen = rows.filter((/** @type {any} */ column) => column.at + 0.5 > shown[0] && column.at - 0.5 < shown[1]);
    const span = this.told.isTime ? Math.ceil(seen.length / Math.max(1, Math.floor(room / (LEAST * this.frame.letter)))) : 1;
    /** @type {any[]} */
    const cells = [];
    for (let first = seen.length ? seen[0].i - (seen[0].i % span) : 0; first <= (seen.at(-1)?.i ?? -1); first += span) {
      const joined = rows.slice(first, first + span);
      const [from, to] = [Math.max(shown[0], joined[0].at - 0.5), Math.min(shown[1], joined.at(-1).at + 0.5)];
      names.forEach((/** @type {string} */ name, /** @type {number} */ row) => {
        const known = joined.map((/** @type {any} */ column) => values[row][column.i]).filter((/** @type {any} */ value) => value !== null);
        if (!known.length) return;
        const value = known.reduce((/** @type {number} */ sum, /** @type {number} */ one) => sum + one, 0) / known.length;
        cells.push({ name, from, to, middle: (from + to) / 2, value, joined });
      });
    }
    return { cells, span, perPixel: (shown[1] - shown[0]) / room };
  }

  /** Depth of the colour of a figure, 0 to 1. @param {number} value */
  depth(value) {
    const part = Math.abs(value) / this.told.largest;
    return FAINTEST + (1 - FAINTEST) * (this.choice.isLog ? part : Math.sqrt(part));
  }

  draw() {
    const width = this.fit();
    const { letter, left } = this.frame;
    const shown = this.choice.span ?? this.whole;
    const beside = 14 * letter;
    const { cells, span, perPixel } = this.cells(shown, width - left - beside);
    const top = this.isAbove ? NAME * letter : 0;
    const isWide = cells.length > 0 && (cells[0].to - cells[0].from) / perPixel >= LETTERED * letter;
    const pixels = { y: "name", insetTop: top + 0.5, insetBottom: 0.5, insetLeft: 0.5, insetRight: 0.5 };
    const across = this.told.isTime ? {} : {
      ticks: this.told.rows.map((/** @type {any} */ c) => c.at).filter((/** @type {number} */ at) => at >= shown[0] && at <= shown[1]),
      tickFormat: (/** @type {number} */ at) => this.told.rows[at].name, tickRotate: this.turned,
    };
    const upward = { type: "band", domain: this.told.names, padding: 0, label: null, axis: this.isAbove ? null : "left", tickSize: 0 };
    this.put(width, shown, upward, beside, [
      Plot.barX(cells, {
        className: "cells", x1: "from", x2: "to", ...pixels, fill: { value: (/** @type {any} */ c) => colour(c.value), scale: null },
        fillOpacity: { value: (/** @type {any} */ c) => this.depth(c.value), scale: null },
      }),
      ...(isWide ? [Plot.text(cells, {
        x: "middle", y: "name", dy: top / 2, text: (/** @type {any} */ c) => (c.value === 0 ? "·" : signed(c.value, this.told.measure.digits)), stroke: "var(--paper)", strokeWidth: 3, paintOrder: "stroke",
      })] : []),
      ...(this.isAbove ? [Plot.text(this.told.names, {
        x: shown[0], y: (/** @type {string} */ name) => name, text: (/** @type {string} */ name) => name, textAnchor: "start",
        dy: -(ROW * letter) / 2, lineWidth: (width - left - beside) / (12 * letter), textOverflow: "ellipsis",
      })] : []),
      (/** @type {any} */ _index) => this.scaleKey(width - beside, span),
      Plot.tip(cells, Plot.pointer({
        className: "pointed", x: "middle", y: "name", dy: top / 2, title: (/** @type {any} */ c) => this.figureWords(c.name, c.joined, c.value), fill: "var(--panel)", stroke: "var(--line)",
      })),
    ], across);
  }

  /** Which colour is which figure, and what is shown; drawn above the cells, so that a saved picture has it. @param {number} end @param {number} span */
  scaleKey(end, span) {
    const { letter, left } = this.frame;
    const { largest, measure } = this.told;
    const [group, colours, words] = [shape("g", {}), shape("g", {}), shape("g", {})];
    group.append(colours, words);
    const reach = (/** @type {number} */ value) => `${signed(value, measure.digits)}${measure.unit}`;
    const ramp = (2 * STEPS + 1) * STEP * letter;
    const start = end - ramp - textWidth(reach(largest), this.figure, letter) - 6 * letter;
    for (let step = -STEPS; step <= STEPS; step += 1) {
      const value = Math.sign(step) * largest * (this.choice.isLog ? Math.abs(step) / STEPS : (step / STEPS) ** 2);
      colours.append(shape("rect", {
        x: start + (step + STEPS) * STEP * letter, y: 4 * letter, width: STEP * letter, height: 12 * letter, fill: colour(value), "fill-opacity": this.depth(value),
      }));
    }
    const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ anchor, /** @type {string} */ said) => {
      const made = shape("text", { x, y, "text-anchor": anchor, fill: "currentColor" });
      made.textContent = said;
      words.append(made);
    };
    text(end, 14 * letter, "end", reach(largest));
    text(start - 6 * letter, 14 * letter, "end", reach(-largest));
    text(left, 14 * letter, "start", measure.axis);
    if (span > 1) text(left, this.frame.height - 8 * letter, "start", `column: mean of ${span} ${this.told.sides[1]}s`);
    return group;
  }

  /** @param {string} name @param {any[]} columns @param {number | null} value */
  figureWords(name, columns, value) {
    const { measure, sides } = this.told;
    const [first, last] = [columns[0].name, columns[columns.length - 1].name];
    const place = first === last ? `${sides[1]} ${first}` : `${sides[1]}s ${first} to ${last}, mean`;
    const figure = value === null ? `no ${measure.word}` : `${measure.word} ${signed(value, measure.digits)}${measure.unit}`;
    return [`${sides[0]} ${name}`, place, figure].join("\n");
  }

  /** @param {any} column */
  words(column) {
    const { names, values } = this.told;
    const row = Math.min(this.choice.row, names.length - 1);
    return this.figureWords(names[row], [column], values[row][column.i]);
  }

  /** Says a cell in words and frames it. @param {number} at @param {boolean} isAsked */
  read(at, isAsked = true) {
    super.read(at, isAsked);
    this.chart.querySelector(".chosen")?.remove();
    const column = this.rows[this.choice.at];
    const [x, y] = [this.chart.scale("x"), this.chart.scale("y")];
    if (!column || column.at < x.domain[0] || column.at > x.domain[1]) return;
    const name = this.told.names[Math.min(this.choice.row, this.told.names.length - 1)];
    const [from, to] = [Math.max(column.at - 0.5, x.domain[0]), Math.min(column.at + 0.5, x.domain[1])].map((place) => x.apply(place));
    const top = this.isAbove ? NAME * this.frame.letter : 0;
    this.chart.append(shape("rect", {
      class: "chosen", x: from, y: y.apply(name) + top, width: Math.max(2, to - from), height: y.bandwidth - top, fill: "none", stroke: "var(--ink)", "stroke-width": 2,
    }));
  }

  csv() {
    const { names, values, sides, measure, rows } = this.told;
    const quoted = (/** @type {string} */ name) => `"${name.replaceAll('"', '""')}"`;
    const lines = names.flatMap((/** @type {string} */ name, /** @type {number} */ row) => rows
      .filter((/** @type {any} */ column) => values[row][column.i] !== null)
      .map((/** @type {any} */ column) => [quoted(name), this.told.isTime ? column.name : quoted(column.name), values[row][column.i]].join(",")));
    return [[...sides, `${measure.word}${measure.unit === " %" ? "_percent" : ""}`].join(","), ...lines];
  }
}

/** @param {number} value */
function colour(value) {
  return value >= 0 ? "rgb(var(--plus))" : "rgb(var(--minus))";
}

/** @param {number} value @param {number} digits */
function signed(value, digits) {
  return value === 0 ? "0" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

/** @param {string} name @param {Record<string, string | number>} attributes */
function shape(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

const measuring = document.createElement("canvas").getContext("2d");

/** Width of a text of a chart, in pixels. @param {string} text @param {HTMLElement} figure @param {number} letter */
function textWidth(text, figure, letter) {
  if (measuring === null) throw new Error("this browser measures no text");
  measuring.font = `${12 * letter}px ${getComputedStyle(figure).fontFamily}`;
  return measuring.measureText(text).width;
}
