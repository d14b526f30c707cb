/**
 * Checks a workspace after all its processes have stopped, from its files alone. Returns the
 * problems, one line each.
 */
import fs from 'node:fs';
import path from 'node:path';

export interface Outcome {
  /** How often a task of this name ended this way, without the random ids of calls. */
  ends: Map<string, number>;
  /** The number of model answers. */
  answers: Map<string, number>;
}

interface Node {
  id: string;
  own: Record<string, number>;
  total: Record<string, number>;
  children: Node[];
}

const EMPTY = [
  'tasks/pending',
  'tasks/active',
  'tasks/waiting',
  '.guild/tmp',
  '.guild/journal',
  '.guild/intents',
  'agents/live',
  'quarantine',
];

/**
 * Text that differs from round to round: ids of calls and messages, times, and the number of votes.
 */
const DRAWN = [/call-[a-z0-9]{10}/g, /messages-[0-9a-f]{20}/g, /\d{4}-\d\d-\d\dT[\d:.]+Z/g, /\d+ of \d+ processes/g];

export function outcome(root: string): Outcome {
  const ends = new Map<string, number>();
  const answers = new Map<string, number>();
  const count = (into: Map<string, number>, what: string): void => {
    const plain = DRAWN.reduce((text, one) => text.replaceAll(one, '*'), what);
    into.set(plain, (into.get(plain) ?? 0) + 1);
  };
  for (const state of ['completed', 'failed']) {
    for (const name of list(root, `tasks/${state}`)) {
      const task = JSON.parse(read(root, `tasks/${state}/${name}`)) as { result?: string; error?: unknown };
      if (!isBid(name)) count(ends, `${name} ${state}: ${task.result ?? JSON.stringify(task.error)}`);
    }
  }
  for (const name of list(root, 'results')) count(ends, `page ${name}: ${read(root, `results/${name}`)}`);
  for (const { name, task } of events(root)) if (name === 'model.answered') count(answers, String(task));
  return { ends, answers };
}

/** `deaths`: the number of killed processes; each may have had that many model calls in flight. */
export function wrongIn(root: string, was: Outcome | undefined, deaths: number): string[] {
  const wrong: string[] = [];
  for (const folder of EMPTY) for (const name of list(root, folder)) wrong.push(`left in ${folder}: ${name}`);
  if (deaths === 0)
    for (const name of list(root, '.guild/evidence')) wrong.push(`fenced out although no process died: ${name}`);
  const is = outcome(root);
  // A child's end may be logged and its process die before the record is written; the next process
  // logs the end again.
  if (deaths === 0) wrong.push(...wrongEvents(root));
  if (was === undefined) return wrong;
  const extra = beyond(is.ends, was.ends);
  const missing = beyond(was.ends, is.ends);
  for (const one of missing) wrong.push(`should be, and is not: ${one}`);
  for (const one of extra) wrong.push(`is, and should not be: ${one}`);
  const more = beyond(is.answers, was.answers).filter((one) => !isBid(one) || !one.includes('(1, not'));
  const fewer = beyond(was.answers, is.answers).filter((one) => !isBid(one));
  if (more.length > deaths * 4) wrong.push(`asked more often than undisturbed: ${more.join(', ')}`);
  if (fewer.length > deaths * 4) wrong.push(`asked less often than undisturbed: ${fewer.join(', ')}`);
  return wrong;
}

/** A process that is away is not asked for a vote. */
function isBid(name: string): boolean {
  return name.includes('.bid-');
}

function beyond(these: ReadonlyMap<string, number>, those: ReadonlyMap<string, number>): string[] {
  return [...these].flatMap(([what, n]) =>
    n > (those.get(what) ?? 0) ? [`${what} (${n}, not ${those.get(what) ?? 0})`] : [],
  );
}

/** The end of every task is logged once, unless it was retried. */
function wrongEvents(root: string): string[] {
  const ended = new Map<string, number>();
  for (const { name, task } of events(root)) {
    const by = name === 'task.completed' || name === 'task.failed' ? 1 : name === 'task.retried' ? -1 : 0;
    if (by !== 0) ended.set(String(task), (ended.get(String(task)) ?? 0) + by);
  }
  return [...ended].flatMap(([task, times]) => (times > 1 ? [`${task} is reported as ended too often`] : []));
}

/** From `guild task tree --json`: the total at the top is the sum of all tasks. */
export function wrongSums(text: string): string[] {
  const top = JSON.parse(text) as Node;
  const all = flat(top);
  return ['turns', 'input_tokens', 'output_tokens', 'micro_usd', 'tool_calls'].flatMap((key) => {
    const sum = all.reduce((so, { own }) => so + (own[key] ?? 0), 0);
    return sum === (top.total[key] ?? 0)
      ? []
      : [`${key} of ${top.id} is ${top.total[key]}, and its parts come to ${sum}`];
  });
}

function flat(node: Node): Node[] {
  return [node, ...node.children.flatMap(flat)];
}

function events(root: string): Record<string, unknown>[] {
  return list(root, 'events').flatMap((name) =>
    read(root, `events/${name}`)
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>])),
  );
}

export function list(root: string, folder: string): string[] {
  const full = path.join(root, folder);
  return fs.existsSync(full)
    ? fs
        .readdirSync(full)
        .filter((name) => !name.startsWith('.'))
        .sort()
    : [];
}

function read(root: string, file: string): string {
  return fs.readFileSync(path.join(root, file), 'utf8');
}
