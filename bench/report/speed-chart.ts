/**
 * The picture of docs/speed.md: the processor time of each subject for each of the three workloads,
 * because it depends least on other work on the machine. Plain SVG; colours follow the reader's
 * light or dark setting.
 */
import type { Row, SubjectFigures } from '../harness/rows.js';

const [WIDTH, LEFT, BAR_MAX, ROW, GAP, TOP] = [760, 250, 400, 20, 34, 34];

export function speedChart(rows: readonly (Row & { bench?: string })[]): string {
  const groups = new Map<string, SubjectFigures[]>();
  for (const { name, subject, bench } of rows) {
    if (subject === undefined || !/^w\d/.test(bench ?? '')) continue;
    groups.set(name, [...(groups.get(name) ?? []), subject]);
  }
  const parts: string[] = [];
  let y = TOP;
  for (const [title, subjects] of groups) {
    const sorted = [...subjects].sort((a, b) => a.cpuMs - b.cpuMs);
    const widest = Math.max(...sorted.map(({ cpuMs }) => cpuMs), 1);
    parts.push(`  <text class="title" x="20" y="${y}">${escaped(title)}: processor ms a run</text>`);
    y += 12;
    for (const subject of sorted) {
      parts.push(bar(subject, y, widest));
      y += ROW;
    }
    y += GAP;
  }
  const height = Math.max(y - GAP + 20, TOP);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">
  <title>Processor milliseconds a run</title>
  <style>
    text { font: 12px system-ui, sans-serif; fill: #1f2328; }
    .title { font-weight: 600; font-size: 13px; }
    .name { text-anchor: end; }
    .bar { fill: #afb8c1; }
    .ours { fill: #0969da; }
    .raw { fill: #d0d7de; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .bar { fill: #6e7681; }
      .ours { fill: #58a6ff; }
      .raw { fill: #484f58; }
    }
  </style>
${parts.join('\n')}
</svg>
`;
}

function bar({ name, kind, cpuMs }: SubjectFigures, y: number, widest: number): string {
  const width = Math.max((cpuMs / widest) * BAR_MAX, 1).toFixed(1);
  const middle = y + 13;
  const look = kind === 'ours' ? 'ours' : kind === 'raw' ? 'raw' : 'bar';
  const label = cpuMs.toFixed(1);
  return [
    `  <text class="name" x="${LEFT - 8}" y="${middle}">${escaped(name)}</text>`,
    `  <rect class="${look}" x="${LEFT}" y="${y + 2}" width="${width}" height="${ROW - 5}" rx="2"/>`,
    `  <text x="${(LEFT + Number(width) + 6).toFixed(1)}" y="${middle}">${label}</text>`,
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
