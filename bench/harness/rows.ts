/**
 * The rows that a benchmark reports, and how they are printed. Most figures come with a raw
 * baseline from the same run, because machines differ more than programs do.
 */

export interface Row {
  name: string;
  /** Medians, in `unit`. */
  ours: number;
  raw?: number | undefined;
  unit: string;
  /** Ours relative to raw, as text. */
  compared: string;
  /** The promise; undefined for a figure without one. */
  target?: string;
  met?: boolean;
}

export interface Bench {
  name: string;
  run(testbed: Testbed): Promise<Row[]>;
}

export interface Testbed {
  /** The number of rounds to run: the default multiplied by `--rounds`. */
  rounds(usual: number): number;
  /** A new empty folder on a real disk; removed at the end. */
  folder(name: string): string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The speed on an idle machine. On a busy one the median mostly measures other programs. */
export function bestTenth(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 10)]!;
}

export function atMostOver(name: string, ours: number, raw: number, unit: string, max: number): Row {
  const over = ours - raw;
  return { name, ours, raw, unit, compared: `+${short(over)}`, target: `≤ +${max} ${unit}`, met: over <= max };
}

export function atMost(name: string, ours: number, unit: string, max: number): Row {
  return { name, ours, unit, compared: '', target: `< ${max} ${unit}`, met: ours < max };
}

/** A row without a target. */
export function figure(name: string, ours: number, unit: string, raw?: number): Row {
  return {
    name,
    ours,
    unit,
    compared: raw === undefined ? '' : `×${short(ours / raw)}`,
    raw,
  };
}

/** `least`: the share of the raw rate that ours must reach. */
export function atLeastShare(name: string, ours: number, raw: number, unit: string, least: number): Row {
  return {
    name,
    ours,
    raw,
    unit,
    compared: `×${short(ours / raw)}`,
    target: `≥ ×${short(least)}`,
    met: ours >= raw * least,
  };
}

export function atMostTimes(name: string, ours: number, raw: number, unit: string, max: number): Row {
  return {
    name,
    ours,
    raw,
    unit,
    compared: `×${short(ours / raw)}`,
    target: `≤ ×${short(max)}`,
    met: ours <= raw * max,
  };
}

export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

export function printRows(rows: readonly Row[]): string {
  const head = ['', 'ours', 'raw', 'compared', 'target', ''];
  const cells = rows.map((row) => [
    row.name,
    `${short(row.ours)} ${row.unit}`,
    row.raw === undefined ? '' : `${short(row.raw)} ${row.unit}`,
    row.compared,
    row.target ?? '',
    row.met === undefined ? '' : row.met ? 'met' : 'MISSED',
  ]);
  return table([head, ...cells]);
}

/** The first column is left-aligned, the others right-aligned. */
export function table(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const line = (row: string[]): string =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}
