/** Writes results into docs/speed.md, between its two marks, and draws the picture beside it. */
import fs from 'node:fs';
import path from 'node:path';
import { THIS_CHECKOUT } from '../harness/builds.js';
import type { Comparison } from '../harness/compare-builds.js';
import { isWorse, short, signed, type Row } from '../harness/rows.js';
import { speedChart } from './speed-chart.js';

export interface Results {
  at: string;
  machine: string;
  /** The highest load average that was seen; the benchmark itself makes one to two. */
  load?: number;
  rounds: number;
  isQuick: boolean;
  rows: (Row & { bench?: string })[];
  /** Rows of benchmarks that look inside a build, with `--against`. */
  comparisons: Comparison[];
}

const BEGIN = '<!-- figures: written by npm run bench -- --write-docs -->';
const END = '<!-- end of figures -->';

export function writeDocs(results: Results): void {
  if (results.isQuick) throw new Error('figures of --quick mean little and are not written to docs/');
  const page = path.join(THIS_CHECKOUT, 'docs', 'speed.md');
  const text = fs.readFileSync(page, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/speed.md has lost its marks: ${BEGIN} and ${END}`);
  fs.writeFileSync(page, `${text.slice(0, from + BEGIN.length)}\n\n${figures(results)}\n\n${text.slice(to)}`);
  fs.writeFileSync(path.join(THIS_CHECKOUT, 'docs', 'pictures', 'speed.svg'), speedChart(results.rows));
}

/** Markdown: the machine, the table of subjects, the table of everything else. */
export function figures({ at, machine, load, rounds, rows }: Results): string {
  const subjects = rows.filter(({ subject }) => subject);
  const others = rows.filter(({ subject }) => !subject);
  const parts = [
    `Measured on ${at.slice(0, 10)}: ${machine}. ${rounds} ${rounds === 1 ? 'round' : 'rounds'}.${busyNote(load)}`,
    ...(subjects.length > 0
      ? ['![Processor time of one run, eight advisors and a chain of five](pictures/speed.svg)']
      : []),
    ...titles(subjects).map((title) =>
      subjectTable(
        title,
        subjects.filter(({ name }) => name === title),
      ),
    ),
    ...(others.length > 0 ? [`### Everything else\n\n${otherTable(others)}`] : []),
  ];
  return parts.join('\n\n');
}

/** Above this load, other programs worked on the machine. */
const QUIET_LOAD = 3;

function busyNote(load = 0): string {
  if (load <= QUIET_LOAD) return '';
  return (
    ` **The machine was busy** (load ${load.toFixed(0)}): times say more about the neighbours than about the programs. ` +
    'Processor time suffers less; compare it with the raw loop of the same table, not with the target.'
  );
}

function titles(rows: readonly Row[]): string[] {
  return [...new Set(rows.map(({ name }) => name))];
}

function subjectTable(title: string, rows: readonly Row[]): string {
  const lines = rows.map(({ subject, target, met }) => {
    const { name, kind, ms, over, range, cpuMs, promptBytes } = subject!;
    const who = kind === 'ours' ? `**${name}**` : name;
    const promise = target === undefined ? '' : `${target}: ${met ? 'met' : '**missed**'}`;
    return [
      who,
      one(ms),
      signed(Number(one(over))),
      `${one(range[0])} to ${one(range[1])}`,
      one(cpuMs),
      short(promptBytes),
      promise,
    ];
  });
  const head = ['', 'ms a run', 'over raw', 'range', 'processor ms', 'prompt bytes', 'target'];
  return `### ${title[0]!.toUpperCase()}${title.slice(1)}\n\n${markdown([head, ...lines])}`;
}

function otherTable(rows: readonly Row[]): string {
  const hasBefore = rows.some(({ before }) => before !== undefined);
  const value = (row: Row, figure: number | undefined): string =>
    figure === undefined ? '' : `${short(figure)} ${row.unit}`.trim();
  const lines = rows.map((row) => [
    row.name,
    row.text ?? value(row, row.ours),
    value(row, row.raw),
    row.compared,
    ...(hasBefore ? [`${value(row, row.before)}${isWorse(row) ? ' (worse)' : ''}`] : []),
    row.target === undefined ? '' : `${row.target}: ${row.met ? 'met' : '**missed**'}`,
  ]);
  const head = ['what', 'Guildhall', 'raw', 'compared', ...(hasBefore ? ['before'] : []), 'target'];
  return markdown([head, ...lines]);
}

function one(value: number): string {
  return value.toFixed(1);
}

/** The first column is left-aligned, the others right-aligned. */
function markdown([head, ...rows]: readonly string[][]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = `|${head!.map((_, at) => (at === 0 ? '---' : '--:')).join('|')}|`;
  return [line(head!), rule, ...rows.map(line)].join('\n');
}
