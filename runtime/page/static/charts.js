// The convergence of a run, drawn by Observable Plot.

import { Chart, Plot, make } from "./chart.js";
import { LEADER, linesNamed, markEdits, markTurns } from "./chart_marks.js";

const COLOURS = { best: "var(--c1)", own: "var(--c2)", validation: "var(--c3)", held: "var(--c4)", edit: "var(--c5)" };

/** Room at the right for names, width of a chart with no room for them, both in pixels; most generations that are dots. */
const [RIGHT, NARROW, DOTTED] = [196, 520, 150];

/** Draws every chart of a panel. @param {HTMLElement} panel */
export function drawCharts(panel) {
  for (const holder of panel.querySelectorAll("[data-gaps]")) {
    if (holder instanceof HTMLElement) new GapChart(holder);
  }
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

class GapChart extends Chart {
  /** @param {HTMLElement} holder */
  constructor(holder) {
    super(holder, unpacked(JSON.parse(holder.dataset.gaps ?? "{}")));
  }

  legend() {
    const legend = make("span", { class: "soft legends" });
    for (const [key, [sign, word, text]] of Object.entries(LEGEND)) {
      if (!this.hasMarks(key)) continue;
      const swatch = make("i", { "aria-hidden": "true", style: `color:${LEGEND_COLOURS[key]}` }, sign);
      const name = make("a", { class: "word", href: `#word-${word}`, "aria-describedby": `means-${word}` }, text);
      legend.append(make("span", {}, swatch, " ", name), " "); // lines break at blanks
    }
    return legend;
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

  get alsoIn() {
    return "the table of generations holds the same figures";
  }

  get rows() {
    return this.told.rows.filter((/** @type {any} */ row) => row.best !== null);
  }

  draw() {
    const { axis, isLog, span } = this.choice;
    const width = this.fit();
    const { letter, left } = this.frame;
    const shown = span ?? this.whole;
    const inside = (/** @type {any} */ row) => row[axis] >= shown[0] && row[axis] <= shown[1];
    const rows = this.rows.filter(inside);
    const places = new Map(this.told.rows.map((/** @type {any} */ row) => [row.generation, row[axis]]));
    const important = rows.flatMap((/** @type {any} */ row) => [row.best, row.validation]);
    const { bottom, top } = this.limits(
      [...important, ...this.told.levels.map((/** @type {any} */ level) => level.value)],
      rows.flatMap((/** @type {any} */ row) => row.bounds ?? []),
    );
    const positive = (/** @type {number | null} */ value) => this.canShow(value);
    const isLong = rows.length > DOTTED; // dots would hide each other
    const isNarrow = width < NARROW * letter; // then lines are named below the chart
    const lines = this.told.levels.filter((/** @type {any} */ l) => positive(l.value));
    const beside = isNarrow || lines.length === 0 ? 14 : RIGHT * letter;
    const stacked = markEdits(this.told.edits, places, shown, width - left - beside);
    const turns = markTurns(this.told.turns, inside, this.told.rows);
    const share = (/** @type {number} */ value) => (isLog ? Math.log(value / bottom) / Math.log(top / bottom) : (value - bottom) / (top - bottom));
    const names = linesNamed(lines, share, this.frame, (/** @type {number} */ value) => this.figureText(value));
    const lineColour = (/** @type {any} */ l) => (l.name.startsWith("evolved") ? COLOURS.held : COLOURS.own);
    const turned = (/** @type {string} */ kind, /** @type {any} */ look) => Plot.dot(turns.filter((t) => t.kind === kind && positive(t.value)), {
      x: (/** @type {any} */ t) => t.row[axis], y: "value", fill: "transparent", strokeWidth: 2, href: "to", ariaLabel: "text", title: "text", ...look,
    });
    this.below.hidden = !isNarrow;
    this.put(width, shown, this.upward(bottom, top), beside, [
      Plot.ruleY(lines, {
        y: "value", stroke: lineColour, strokeDasharray: "6 4", strokeWidth: 1.5,
      }),
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
    ]);
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

  csv() {
    const keys = ["generation", "calls", "tokens", "minutes", "best", "own", "validation", "failed"];
    const { word } = this.told.measure;
    const named = keys.map((key) => (["best", "own", "validation"].includes(key) ? `${key}_${word}${word === "gap" ? "_percent" : ""}` : key));
    const lines = this.told.rows.map((/** @type {any} */ row) => keys.map((key) => row[key] ?? "").join(","));
    return [named.join(","), ...lines];
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
