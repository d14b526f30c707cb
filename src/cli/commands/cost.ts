/** `guild cost`: what model and tool calls cost, summed from the events. */
import { openReader } from '../../app/readers/open-reader.js';
import { callCost, type Event } from '../../domain/event.js';
import { kinIn } from '../../domain/task/lineage.js';
import { partialMoneyText } from '../../domain/budget/usage.js';
import { compareText } from '../../domain/order.js';
import { ProblemError, problem } from '../../domain/problem.js';
import { localDay } from '../../views/local-time.js';
import { columnsOf } from '../render/columns.js';
import { EXIT, text, type Command } from '../args/command.js';
import { oneLine } from '../render/layout.js';

const BY = ['agent', 'task', 'model', 'role', 'day'] as const;
type By = (typeof BY)[number];

interface Sum {
  key: string;
  calls: number;
  tool_calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  micro_usd: number;
  /** Calls of models whose price is not known; their cost is not in micro_usd. */
  unpriced_calls: number;
  ms: number;
}

export const command: Command = {
  usage: 'cost',
  about: 'Sums what model and tool calls have cost, from events/.',
  options: {
    by: {
      type: 'string',
      value: 'WHAT',
      about: 'agent (default), task, model, role or day; task sums whole trees, and a model has no tool calls',
    },
    since: { type: 'string', value: 'DAY', about: 'only calls of this day (2026-01-31) and later' },
  },
  maxWords: 0,
  async run({ values, root, terminal, json }) {
    const by = (text(values, 'by') ?? 'agent') as By;
    if (!BY.includes(by))
      throw new ProblemError(problem('bad_usage', `--by is one of ${BY.join(', ')}, not ${JSON.stringify(by)}`));
    const since = startOf(text(values, 'since'));
    const events = await openReader(root).events.list();
    const { rootOf } = kinIn(by === 'task' ? events : []);
    const counted = events.filter((event) => event.at >= since);
    const rows = sums(counted, by, rootOf);
    const total = rows.reduce(add, empty('total'));
    if (json) {
      terminal.json({ by, rows, total });
      return EXIT.done;
    }
    const lines = layRows([...rows, total], terminal.width);
    for (const [i, line] of lines.entries()) terminal.out(i < rows.length ? line : terminal.bold(line));
    const unpriced = unpricedModels(counted);
    if (unpriced[0] !== undefined) {
      terminal.say(
        `\nThe price of ${unpriced.join(', ')} is not known. Set it in guild.yaml, in dollars for a million tokens:`,
      );
      terminal.say(`prices: { ${unpriced[0]}: { input: 1.00, output: 4.00 } }`);
    }
    return EXIT.done;
  },
};

/** The ISO time at which a local day, or a moment on one, starts. */
function startOf(since: string | undefined): string {
  if (since === undefined) return '';
  // Without a time of day the language would read it as UTC.
  const at = new Date(since.length === '2026-01-31'.length ? `${since}T00:00:00` : since);
  if (/^\d{4}-\d{2}-\d{2}/.test(since) && !Number.isNaN(at.getTime())) return at.toISOString();
  throw new ProblemError(problem('bad_usage', `--since is a day like 2026-01-31, not ${JSON.stringify(since)}`));
}

/**
 * Numbers are right-aligned. In a narrow window, columns are dropped before names are cut; money
 * and tokens stay.
 */
function layRows(rows: readonly Sum[], width: number): string[] {
  const keys = Math.max(...rows.map((row) => columnsOf(row.key)));
  const all = NUMBERS.map((print) => rows.map(print));
  const wide = (column: readonly string[]): number => Math.max(LEAST_NUMBER, ...column.map((cell) => cell.length)) + 2;
  const room = (): number => width - shown.reduce((sum, column) => sum + wide(column), 0);
  let shown = all;
  for (const least of DROPPED)
    if (room() < Math.min(keys, LEAST_KEY)) shown = shown.filter((column) => column !== all[least]);
  const left = Math.min(keys, Math.max(LEAST_KEY, room()));
  return rows.map((row, i) => {
    const key = oneLine(row.key, left);
    return key + ' '.repeat(left - columnsOf(key)) + shown.map((column) => column[i]!.padStart(wide(column))).join('');
  });
}

const NUMBERS: ((row: Sum) => string)[] = [
  ({ calls }) => `${calls} ${calls === 1 ? 'call' : 'calls'}`,
  ({ tool_calls }) => `${tool_calls} ${tool_calls === 1 ? 'tool' : 'tools'}`,
  (row) => `${row.input_tokens + row.output_tokens} tokens`,
  ({ micro_usd, unpriced_calls }) => partialMoneyText(micro_usd, unpriced_calls, `$${(micro_usd / 1e6).toFixed(6)}`),
  ({ ms }) => `${(ms / 1000).toFixed(1)} s`,
];
/** Columns that are dropped, in this order. */
const DROPPED = [4, 1, 0];
const LEAST_NUMBER = 7;
const LEAST_KEY = 12;

function sums(events: readonly Event[], by: By, rootOf: (task: string) => string): Sum[] {
  const rows = new Map<string, Sum>();
  for (const event of events) {
    const isTool = event.name === 'tool.ran';
    if (!isTool && event.name !== 'model.answered') continue;
    if (isTool && (by === 'model' || event['made'] === false)) continue;
    const key = by === 'task' ? rootOf(event.task ?? '-') : keyOf(event, by);
    rows.set(key, add(rows.get(key) ?? empty(key), isTool ? toolLine(event) : modelLine(event)));
  }
  return [...rows.values()].sort((a, b) =>
    by === 'day'
      ? compareText(a.key, b.key)
      : b.micro_usd - a.micro_usd || b.calls - a.calls || compareText(a.key, b.key),
  );
}

function unpricedModels(events: readonly Event[]): string[] {
  const models = events.flatMap((event) =>
    event.name === 'model.answered' && callCost(event).isUnpriced ? [String(event['model'])] : [],
  );
  return [...new Set(models)].sort(compareText);
}

function keyOf(event: Event, by: Exclude<By, 'task'>): string {
  if (by === 'day') return localDay(event.at);
  const named = by === 'agent' ? event.agent : event[by];
  return typeof named === 'string' ? named : '-';
}

function modelLine(event: Event): Sum {
  const cost = callCost(event);
  return {
    ...empty(''),
    calls: 1,
    input_tokens: cost.inputTokens,
    output_tokens: cost.outputTokens,
    cached_tokens: cost.cachedTokens,
    micro_usd: cost.microUsd,
    unpriced_calls: cost.isUnpriced ? 1 : 0,
    ms: cost.ms,
  };
}

function toolLine(event: Event): Sum {
  return { ...empty(''), tool_calls: 1, ms: callCost(event).ms };
}

function empty(key: string): Sum {
  return {
    key,
    calls: 0,
    tool_calls: 0,
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    micro_usd: 0,
    unpriced_calls: 0,
    ms: 0,
  };
}

function add(a: Sum, b: Sum): Sum {
  return {
    key: a.key,
    calls: a.calls + b.calls,
    tool_calls: a.tool_calls + b.tool_calls,
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cached_tokens: a.cached_tokens + b.cached_tokens,
    micro_usd: a.micro_usd + b.micro_usd,
    unpriced_calls: a.unpriced_calls + b.unpriced_calls,
    ms: a.ms + b.ms,
  };
}
