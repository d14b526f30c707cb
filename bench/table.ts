/** What a benchmark reports, and how it is printed. Every figure stands beside a raw baseline of the same run, because machines differ more than programs. */

export interface Row {
  name: string;
  /** Medians, in `unit`. */
  ours: number;
  raw?: number;
  unit: string;
  /** How ours compares, as a person reads it. */
  compared: string;
  /** What was promised; absent for a figure that is only told. */
  target?: string;
  met?: boolean;
}

export interface Bench {
  name: string;
  run(bed: Bed): Promise<Row[]>;
}

/** What a benchmark stands on. */
export interface Bed {
  /** How much of everything: 1 for the usual number of rounds. */
  rounds(usual: number): number;
  /** A new empty folder on a real disk; removed at the end. */
  folder(name: string): string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** What the program does when the machine has nothing else to do; told beside the median, which on a busy one is mostly the others. */
export function bestTenth(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 10)]!;
}

export function atMostOver(name: string, ours: number, raw: number, unit: string, most: number): Row {
  const over = ours - raw;
  return { name, ours, raw, unit, compared: `+${short(over)}`, target: `≤ +${most} ${unit}`, met: over <= most };
}

export function atMost(name: string, ours: number, unit: string, most: number): Row {
  return { name, ours, unit, compared: '', target: `< ${most} ${unit}`, met: ours < most };
}

export function told(name: string, ours: number, unit: string, raw?: number): Row {
  return {
    name,
    ours,
    unit,
    compared: raw === undefined ? '' : `×${short(ours / raw)}`,
    ...(raw === undefined ? {} : { raw }),
  };
}

/** `least`: the part of the raw rate that ours must reach. */
export function atLeastPart(name: string, ours: number, raw: number, unit: string, least: number): Row {
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

export function atMostTimes(name: string, ours: number, raw: number, unit: string, most: number): Row {
  return {
    name,
    ours,
    raw,
    unit,
    compared: `×${short(ours / raw)}`,
    target: `≤ ×${short(most)}`,
    met: ours <= raw * most,
  };
}

export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

export function print(rows: readonly Row[]): string {
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

/** Columns, the first to the left and the others to the right. */
export function table(rows: readonly string[][]): string {
  const wide = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const line = (row: string[]): string =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(wide[at]!) : cell.padStart(wide[at]!)))
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}
