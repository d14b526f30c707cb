/** `guild cost`: what model and tool calls cost, summed from the events. */
import { addCosts, BY, costSums, noCosts, type CostBy, type CostSum } from '../../app/readers/aggregates/cost-sums.js';
import { readEvents } from '../../app/readers/log/open-events.js';
import { partialMoneyText } from '../../domain/budget/usage.js';
import { problemError } from '../../domain/problem.js';
import { columnsOf } from '../render/columns.js';
import { EXIT, text, type Command } from '../args/command.js';
import { oneLine } from '../render/layout.js';
import { progressOn } from '../render/progress.js';

export const command: Command = {
  usage: 'cost',
  about: 'Sums what model and tool calls have cost, from the event log.',
  options: {
    by: {
      type: 'string',
      value: 'WHAT',
      about: 'agent (default), task, model, role or day; task sums whole trees, model leaves out tool calls',
    },
    since: { type: 'string', value: 'DAY', about: 'only calls from this day on, such as 2026-01-31' },
  },
  maxWords: 0,
  async run({ values, root, terminal, json }) {
    const by = (text(values, 'by') ?? 'agent') as CostBy;
    if (!BY.includes(by))
      throw problemError('bad_usage', `--by must be one of ${BY.join(', ')}, not ${JSON.stringify(by)}`);
    const since = startOf(text(values, 'since'));
    const events = await readEvents(root, progressOn(terminal, 'indexing'));
    const { rows, unpriced } = costSums(events, by, since);
    const total = noCosts('total');
    for (const row of rows) addCosts(total, row);
    if (json) {
      terminal.json({ by, rows, total });
      return EXIT.done;
    }
    const line = layRows([...rows, total], terminal.width);
    await terminal.outAll(rows, line);
    terminal.out(terminal.bold(line(total)));
    if (unpriced[0] !== undefined) {
      terminal.say(
        `\nThe price of ${unpriced.join(', ')} is not known. Set it in guild.yaml, in dollars for a million tokens:`,
      );
      terminal.say(`prices: { ${unpriced[0]}: { input: 1.00, output: 4.00 } }`);
    }
    return EXIT.done;
  },
};

/** The ISO time at which a local day, or a moment on it, starts. */
function startOf(since: string | undefined): string {
  if (since === undefined) return '';
  // Without a time of day, JavaScript would read it as UTC.
  const at = new Date(since.length === '2026-01-31'.length ? `${since}T00:00:00` : since);
  if (/^\d{4}-\d{2}-\d{2}/.test(since) && !Number.isNaN(at.getTime())) return at.toISOString();
  throw problemError('bad_usage', `--since must be a day such as 2026-01-31, not ${JSON.stringify(since)}`);
}

/**
 * Numbers are right-aligned. In a narrow window, columns are dropped before names are cut; money
 * and tokens stay.
 */
function layRows(rows: readonly CostSum[], width: number): (row: CostSum) => string {
  const keys = rows.reduce((max, { key }) => Math.max(max, columnsOf(key)), 0);
  const largest = largestRows(rows);
  const all = NUMBERS.map(({ print }) => {
    const widest = largest.reduce((max, row) => Math.max(max, print(row).length), LEAST_NUMBER);
    return { print, wide: widest + 2 };
  });
  const room = (): number => width - shown.reduce((sum, { wide }) => sum + wide, 0);
  let shown = all;
  for (const least of DROPPED)
    if (room() < Math.min(keys, LEAST_KEY)) shown = shown.filter((column) => column !== all[least]);
  const left = Math.min(keys, Math.max(LEAST_KEY, room()));
  return (row) => {
    const key = oneLine(row.key, left);
    return key + ' '.repeat(left - columnsOf(key)) + shown.map(({ print, wide }) => print(row).padStart(wide)).join('');
  };
}

interface NumberColumn {
  /**
   * The figure that determines the width: the row with the larger figure prints the longer text.
   */
  size(row: CostSum): number;
  print(row: CostSum): string;
}

const NUMBERS: NumberColumn[] = [
  { size: ({ calls }) => calls, print: ({ calls }) => `${calls} ${calls === 1 ? 'call' : 'calls'}` },
  { size: (row) => row.tool_calls, print: (row) => `${row.tool_calls} ${row.tool_calls === 1 ? 'tool' : 'tools'}` },
  { size: tokensOf, print: (row) => `${tokensOf(row)} tokens` },
  {
    size: ({ micro_usd }) => micro_usd,
    print: ({ micro_usd, unpriced_calls }) =>
      partialMoneyText(micro_usd, unpriced_calls, `$${(micro_usd / 1e6).toFixed(6)}`),
  },
  { size: ({ ms }) => ms, print: ({ ms }) => `${(ms / 1000).toFixed(1)} s` },
];

function tokensOf({ input_tokens, output_tokens }: CostSum): number {
  return input_tokens + output_tokens;
}

/**
 * A few rows that together contain the longest text of each column; printing all rows to measure
 * them would take too long.
 */
function largestRows(rows: readonly CostSum[]): CostSum[] {
  const largest: CostSum[] = [];
  for (const row of rows) {
    const kind = row.unpriced_calls === 0 ? 0 : row.micro_usd === 0 ? 1 : 2;
    for (let column = 0; column < NUMBERS.length; column++) {
      const place = kind * NUMBERS.length + column;
      const { size } = NUMBERS[column]!;
      const best = largest[place];
      if (best === undefined || size(row) > size(best)) largest[place] = row;
    }
  }
  return largest.filter((row) => row !== undefined);
}

/** Columns that are dropped, in this order. */
const DROPPED = [4, 1, 0];
const LEAST_NUMBER = 7;
const LEAST_KEY = 12;
