/**
 * The rows that a benchmark reports, and how they are printed. Most figures come with a raw
 * baseline from the same run, because machines differ more than programs do.
 */

import type { Build } from './builds.js';
import type { ModelServer } from './model-server.js';
import type { Candidate } from './subjects.js';

export interface Row {
  name: string;
  /** Medians, in `unit`. Undefined: `text` says why there is no figure. */
  ours?: number;
  raw?: number | undefined;
  /** The same figure of the older build. */
  before?: number | undefined;
  unit: string;
  /** Ours relative to raw, as text. */
  compared: string;
  /** The promise; undefined for a figure without one. */
  target?: string;
  met?: boolean;
  text?: string;
  /** Set in rows of workloads that several subjects ran. */
  subject?: SubjectFigures;
}

/** The resources that a subject needed for one run. */
export interface SubjectFigures {
  name: string;
  kind: Candidate['kind'];
  ms: number;
  /** Over the raw loop of the same round: the median, and the range over all rounds. */
  over: number;
  range: [number, number];
  cpuMs: number;
  promptBytes: number;
}

export interface Bench {
  name: string;
  /** About how long it takes on a quiet machine; default: one minute. */
  minutes?: number;
  run(testbed: Testbed): Promise<Row[]>;
}

export interface Testbed {
  build: Build;
  /** `--against`: the build to compare with. */
  older?: Build | undefined;
  /** `--peers`: other frameworks. */
  peers: readonly Candidate[];
  model: ModelServer;
  /** How often each subject is measured, alternating with the others. */
  rounds: number;
  /** How long a steady load is kept up. */
  sustainMinutes: number;
  /** A number of repetitions or files; smaller with `--quick`. */
  scale(usual: number, quick?: number): number;
  /** A new empty folder on a real disk; removed at the end. */
  folder(name: string): string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function atMostOver(name: string, ours: number, raw: number, unit: string, max: number): Row {
  const over = ours - raw;
  return { name, ours, raw, unit, compared: signed(over), target: `≤ +${max} ${unit}`, met: over <= max };
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

/** `least`: the share of the raw rate that Guildhall must reach. */
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

/** `+1.2`, `-0.3`. */
export function signed(value: number): string {
  return value < 0 ? short(value) : `+${short(value)}`;
}

/** The row with the older build's figure for the same thing. */
export function against(row: Row, before: number | undefined): Row {
  return before === undefined ? row : { ...row, before };
}

/** A row without a figure. */
export function without(name: string, why: string): Row {
  return { name, unit: '', compared: '', text: why };
}

/** Ratios this close to 1 count as equal. */
const NOISE = 0.1;

/** Whether a figure is worse than the older build's; rates are better when they are larger. */
export function isWorse({ ours, before, unit }: Row): boolean {
  if (ours === undefined || before === undefined || ours === before) return false;
  return unit.includes('/s') ? ours < before * (1 - NOISE) : ours > before * (1 + NOISE);
}

export function printRows(rows: readonly Row[]): string {
  const parts = [subjectTable(rows.filter(({ subject }) => subject)), figureTable(rows.filter((row) => !row.subject))];
  return parts.filter((part) => part !== '').join('\n\n');
}

function subjectTable(rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const cells = rows.map(({ name, subject, target, met }) => [
    `${name}: ${subject!.name}`,
    `${short(subject!.ms)} ms`,
    signed(subject!.over),
    `${short(subject!.range[0])} to ${short(subject!.range[1])}`,
    short(subject!.cpuMs),
    short(subject!.promptBytes),
    target ?? '',
    verdict(met),
  ]);
  return table([['', 'a run', 'over raw', 'range', 'CPU ms', 'prompt B', 'target', ''], ...cells]);
}

function figureTable(rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const unit = (value: number | undefined, row: Row): string =>
    value === undefined ? '' : `${short(value)} ${row.unit}`.trim();
  const cells = rows.map((row) => [
    row.name,
    row.text ?? unit(row.ours, row),
    unit(row.raw, row),
    row.compared,
    unit(row.before, row),
    isWorse(row) ? 'WORSE' : '',
    row.target ?? '',
    verdict(row.met),
  ]);
  return table([['', 'ours', 'raw', 'compared', 'before', '', 'target', ''], ...cells]);
}

function verdict(met: boolean | undefined): string {
  return met === undefined ? '' : met ? 'met' : 'MISSED';
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
