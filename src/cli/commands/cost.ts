/** `guild cost`: what model and tool calls cost, summed from the events. */
import { openLook } from '../../app/readers/open-look.js';
import { openEventIndex, type CallSeen, type EventsSeen } from '../../app/readers/aggregates/open-index.js';
import { kinIn } from '../../domain/task/lineage.js';
import { partialMoneyText } from '../../domain/budget/usage.js';
import { compareText } from '../../domain/order.js';
import { ProblemError, problem } from '../../domain/problem.js';
import { localDay } from '../../views/local-time.js';
import { columnsOf } from '../render/columns.js';
import { EXIT, text, type Command } from '../args/command.js';
import { oneLine } from '../render/layout.js';
import { progressOn } from '../render/progress.js';

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

type Amounts = Omit<Sum, 'key'>;

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
    openLook(root); // throws if there is no workspace
    const events = openEventIndex(root, progressOn(terminal, 'indexing')).look();
    const { rows, unpriced } = sums(events, by, since);
    const total = empty('total');
    for (const row of rows) add(total, row);
    if (json) {
      terminal.json({ by, rows, total });
      return EXIT.done;
    }
    const line = layRows([...rows, total], terminal.width);
    terminal.outAll(rows, line);
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
function layRows(rows: readonly Sum[], width: number): (row: Sum) => string {
  const keys = rows.reduce((max, { key }) => Math.max(max, columnsOf(key)), 0);
  const all = NUMBERS.map((print) => {
    const widest = rows.reduce((max, row) => Math.max(max, print(row).length), LEAST_NUMBER);
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

interface Sums {
  rows: Sum[];
  /** Models whose price is not known. */
  unpriced: string[];
}

function sums(events: EventsSeen, by: By, since: string): Sums {
  const { rootOf } = kinIn(by === 'task' ? events.lineage() : []);
  const rows = new Map<string, Sum>();
  const unpriced = new Set<string>();
  for (const call of events.calls()) {
    if (since !== '' && call.at < since) continue;
    if (call.isUnpriced) unpriced.add(String(call.model));
    if (call.kind === 'tool' && by === 'model') continue;
    const key = by === 'task' ? rootOf(call.task ?? '-') : keyOf(call, by);
    const row = rows.get(key) ?? empty(key);
    rows.set(key, row);
    add(row, call.kind === 'tool' ? toolLine(call) : modelLine(call));
  }
  const sorted = [...rows.values()].sort((a, b) =>
    by === 'day'
      ? compareText(a.key, b.key)
      : b.micro_usd - a.micro_usd || b.calls - a.calls || compareText(a.key, b.key),
  );
  return { rows: sorted, unpriced: [...unpriced].sort(compareText) };
}

function keyOf(call: CallSeen, by: Exclude<By, 'task'>): string {
  return by === 'day' ? localDay(call.at) : (call[by] ?? '-');
}

function modelLine(call: CallSeen): Amounts {
  return {
    calls: 1,
    tool_calls: 0,
    input_tokens: call.inputTokens,
    output_tokens: call.outputTokens,
    cached_tokens: call.cachedTokens,
    micro_usd: call.microUsd,
    unpriced_calls: call.isUnpriced ? 1 : 0,
    ms: call.ms,
  };
}

function toolLine({ ms }: CallSeen): Amounts {
  return { ...empty(''), tool_calls: 1, ms };
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

function add(sum: Sum, more: Amounts): void {
  sum.calls += more.calls;
  sum.tool_calls += more.tool_calls;
  sum.input_tokens += more.input_tokens;
  sum.output_tokens += more.output_tokens;
  sum.cached_tokens += more.cached_tokens;
  sum.micro_usd += more.micro_usd;
  sum.unpriced_calls += more.unpriced_calls;
  sum.ms += more.ms;
}
