// Several runs in one chart: their best so far, with bands where a line stands for several of them.

import { Chart, Plot } from "./chart.js";

const COLOURS = ["var(--c1)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c2)", "var(--ink)"];
/** Pixels at the right of the plot. */
const BESIDE = 14;

/** @param {number} place */
function look(place) {
  return { stroke: COLOURS[place % COLOURS.length], ...(place >= COLOURS.length ? { strokeDasharray: "6 4" } : {}) };
}

/** What the program tells, with a row for each generation: of each run its best so far then, with its band; `null` after its end. @param {any} told */
function unpacked(told) {
  const series = told.series.map((/** @type {any} */ { name, points }) => ({
    name, points: points.map((/** @type {any[]} */ [generation, value, low, high]) => ({ generation, value, low, high })),
  }));
  const all = series.flatMap((/** @type {any} */ { points }) => points.map((/** @type {any} */ point) => point.generation));
  const generations = [...new Set(all)].sort((a, b) => a - b);
  const rows = generations.map((generation) => ({
    generation,
    points: series.map((/** @type {any} */ { points }) => {
      const until = points.filter((/** @type {any} */ point) => point.generation <= generation);
      return until.length && points.at(-1).generation >= generation ? until.at(-1) : null;
    }),
  })).map((row) => ({ ...row, values: row.points.map((/** @type {any} */ point) => point?.value ?? null) }));
  const isBanded = series.map((/** @type {any} */ { points }) => points.some((/** @type {any} */ point) => point.low < point.high));
  return { ...told, axes: { generation: "generation" }, series, rows, isBanded };
}

class CompareChart extends Chart {
  /** @param {HTMLElement} holder */
  constructor(holder) {
    super(holder, unpacked(JSON.parse(holder.dataset.compared ?? "{}")));
    this.below.hidden = true;
  }

  get fileName() {
    return "comparison";
  }

  draw() {
    const width = this.fit();
    const shown = this.choice.span ?? this.whole;
    const inside = (/** @type {any} */ row) => row.generation >= shown[0] && row.generation <= shown[1];
    const rows = this.rows.filter(inside);
    const levels = this.told.levels.filter((/** @type {any} */ level) => this.canShow(level.value));
    const { bottom, top } = this.limits(
      [...rows.flatMap((/** @type {any} */ row) => row.values), ...levels.map((/** @type {any} */ level) => level.value),
        ...this.told.series.flatMap((/** @type {any} */ one) => one.points.filter(inside).flatMap((/** @type {any} */ p) => [p.low, p.high]))],
      [],
    );
    const lines = this.told.series.map((/** @type {any} */ one) => one.points.filter((/** @type {any} */ point) => this.canShow(point.value)));
    const bands = this.told.series.map((/** @type {any} */ one) => one.points.filter((/** @type {any} */ p) => this.canShow(p.low) && p.low < p.high));
    const first = (/** @type {any} */ row) => row.values.find((/** @type {number | null} */ value) => this.canShow(value));
    this.put(width, shown, this.upward(bottom, top), BESIDE, [
      ...bands.map((/** @type {any[]} */ points, /** @type {number} */ place) => Plot.areaY(points, {
        x: "generation", y1: "low", y2: "high", curve: "step-after", fill: look(place).stroke, fillOpacity: 0.16, clip: true,
      })),
      Plot.ruleY(levels, {
        y: "value", stroke: (/** @type {any} */ level) => look(level.curve).stroke, strokeDasharray: "2 3", strokeWidth: 1.5,
        title: (/** @type {any} */ level) => `${level.name}: ${this.figureText(level.value)}`,
      }),
      ...lines.map((/** @type {any[]} */ points, /** @type {number} */ place) => Plot.line(points, {
        x: "generation", y: "value", curve: "step-after", strokeWidth: 2, clip: true, ...look(place),
        title: () => this.told.series[place].name,
      })),
      ...lines.map((/** @type {any[]} */ points, /** @type {number} */ place) => Plot.dot(points.slice(-1).filter(inside), {
        x: "generation", y: "value", r: 3, fill: look(place).stroke,
      })),
      Plot.tip(rows.filter((/** @type {any} */ row) => first(row) !== undefined), Plot.pointerX({
        x: "generation", y: first, title: (/** @type {any} */ row) => this.words(row), fill: "var(--panel)", stroke: "var(--line)",
      })),
    ]);
  }

  /** @param {any} row */
  words(row) {
    const { series, isBanded } = this.told;
    const said = row.points.map((/** @type {any} */ point, /** @type {number} */ i) => {
      if (point === null) return "";
      const band = isBanded[i] ? ` (${this.figureText(point.low)} to ${this.figureText(point.high)})` : "";
      return `${series[i].name} ${this.figureText(point.value)}${band}`;
    });
    return [`generation ${row.generation}`, ...said.filter(Boolean)].join("\n");
  }

  csv() {
    const quoted = (/** @type {string} */ name) => `"${name.replaceAll('"', '""')}"`;
    const { series, isBanded } = this.told;
    const columns = series.flatMap((/** @type {any} */ { name }, /** @type {number} */ i) => (isBanded[i] ? ["", ", lowest", ", highest"] : [""]).map((end) => quoted(name + end)));
    const figures = (/** @type {any} */ point, /** @type {number} */ i) => (isBanded[i] ? [point?.value, point?.low, point?.high] : [point?.value]).map((value) => value ?? "");
    return [["generation", ...columns].join(","), ...this.rows.map((row) => [row.generation, ...row.points.flatMap(figures)].join(","))];
  }
}

for (const holder of document.querySelectorAll("[data-compared]")) {
  if (holder instanceof HTMLElement) new CompareChart(holder);
}
