/**
 * Parsing a board of 10,000 bullets, and ticking one of them. Baseline: splitting the text into
 * lines.
 */
import { applyEdits, boxEdits } from '../../src/text/board/edit.js';
import { parseBoard } from '../../src/text/board/parse.js';
import { atMost, median, figure, type Bench } from '../harness/rows.js';

const BULLETS = 10_000;

export const boardParsing: Bench = {
  name: 'boards',
  async run(testbed) {
    const item = (n: number): string =>
      `- [ ] B @executor #ops "Task number ${n}"\n  id: task-${n}\n  created: 2026-01-01T00:00:00Z\n`;
    const text = `# Plan\n\n## TODO\n\n${Array.from({ length: BULLETS }, (_, n) => item(n)).join('')}`;
    const ours: number[] = [];
    const raw: number[] = [];
    let changed = 0;
    for (let round = 0; round < testbed.scale(16); round++) {
      let from = performance.now();
      const lines = text.split('\n').map((line) => line.trim());
      raw.push(performance.now() - from);
      from = performance.now();
      const board = parseBoard(text, 'plan.task.md');
      if (round >= 4) ours.push(performance.now() - from);
      const ticked = applyEdits(text, boxEdits(text, board.items[BULLETS / 2]!, 'done')).split('\n');
      changed = ticked.filter((line, at) => line.trim() !== lines[at]).length;
    }
    return [
      atMost(`reading a board of ${BULLETS} bullets`, median(ours), 'ms', 100),
      figure('… splitting it into lines', median(raw), 'ms'),
      { name: 'lines that one tick changes', ours: changed, unit: '', compared: '', target: '1', met: changed === 1 },
    ];
  },
};
