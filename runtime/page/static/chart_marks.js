// Where the marks and names of a chart of gaps or scores lie.

/** Pixels from the end of a line to its name, of a name's height, and from one mark of an edit to the next; edits that one mark names. */
export const LEADER = 18;
const [NAME_HEIGHT, MARK, NAMED] = [15, 9, 8];

/**
 * Names of lines at the right of the chart, where no point lies, each clear of the next; of those that would hide
 * each other the middle stays where it is.
 * @param {any[]} lines @param {(value: number) => number} share of the height, from the bottom
 * @param {{letter: number, above: number, below: number, height: number}} frame @param {(value: number) => string} figure
 * @returns {{text: string, shift: number, level: any}[]} their vertical distance from their line, in pixels
 */
export function linesNamed(lines, share, frame, figure) {
  const reach = frame.height - frame.above - frame.below;
  const apart = NAME_HEIGHT * frame.letter;
  const sorted = lines.map((level) => ({ level, y: (1 - share(level.value)) * reach })).sort((a, b) => a.y - b.y);
  /** @type {{middle: number, count: number}[]} */
  const clusters = [];
  const kept = (/** @type {number} */ middle, /** @type {number} */ count) => {
    const half = ((count - 1) * apart) / 2; // all names of a cluster beside the plot
    return Math.max(half, Math.min(middle, reach - half));
  };
  sorted.forEach(({ y }) => {
    let here = { middle: kept(y, 1), count: 1 };
    for (let last = clusters.at(-1); last && here.middle - last.middle < ((here.count + last.count) * apart) / 2; last = clusters.at(-1)) {
      clusters.pop();
      const count = last.count + here.count;
      here = { middle: kept((last.middle * last.count + here.middle * here.count) / count, count), count };
    }
    clusters.push(here);
  });
  const places = clusters.flatMap(({ middle, count }) => Array.from({ length: count }, (_, i) => middle + (i - (count - 1) / 2) * apart));
  return sorted.map(({ level, y }, i) => ({ level, shift: places[i] - y, text: `${level.name} ${figure(level.value)}` }));
}

/**
 * Marks of edits, those of a generation beside each other; where there is no room for that one mark stands for several.
 * @param {any[]} edits @param {Map<number, number>} places of generations @param {number[]} shown @param {number} room pixels of the axis
 */
export function markEdits(edits, places, shown, room) {
  const pixel = (shown[1] - shown[0]) / Math.max(200, room);
  /** @type {Map<number, number>} */
  const counts = new Map();
  /** @type {Map<number, {x: number, seq: number, texts: string[]}>} */
  const marks = new Map();
  for (const edit of edits) {
    const place = places.get(edit.generation);
    if (place === undefined || place < shown[0] || place > shown[1]) continue;
    const count = counts.get(place) ?? 0;
    counts.set(place, count + 1);
    const x = Math.min(shown[1], place + Math.min(count, MARK) * MARK * pixel);
    const slot = Math.round((x - shown[0]) / (MARK * pixel));
    const mark = marks.get(slot) ?? { x, seq: edit.seq, texts: [] };
    if (edit.bringsCode) mark.seq = edit.seq; // it leads to the last difference that it names
    mark.texts.push(`generation ${edit.generation}: ${edit.text}`);
    marks.set(slot, mark);
  }
  return [...marks.values()].map(({ x, seq, texts }) => {
    const more = texts.length > NAMED ? [`and ${texts.length - NAMED} more`] : [];
    return { x, seq, text: [...texts.slice(0, NAMED), ...more].join("\n") };
  });
}

/**
 * Marks that say why the best or the checkpoint became another one, on the curves that they moved; they lead to the
 * edit that did it, else to the walks of that generation or to the comparison.
 * @param {any[]} turns @param {(row: any) => boolean} inside @param {any[]} rows
 * @returns {{kind: string, row: any, value: number | null, to: string, text: string}[]}
 */
export function markTurns(turns, inside, rows) {
  const found = new Map(rows.map((row) => [row.generation, row]));
  return turns.filter(({ generation }) => found.has(generation) && inside(found.get(generation))).map(({ kind, generation, seq, text, edit }) => {
    const row = found.get(generation);
    const elsewhere = kind === "best" ? `?seq=${seq}#walks` : "#progress";
    return { kind, row, value: kind === "best" ? row.best : row.validation, to: edit === null ? elsewhere : `#code-of-${edit}`, text: `generation ${generation}: ${text}` };
  });
}
