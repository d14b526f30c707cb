/**
 * A workspace with many finished tasks: records, result pages, conversations, and four event lines
 * a task over 30 days. Everything is derived from the seed.
 */
import fs from 'node:fs';
import path from 'node:path';
import { AGENT, writeWorkspace } from './workspace.js';

const DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const START_MS = Date.parse('2026-01-01T00:00:00.000Z');
const AGENTS = [AGENT, 'planner', 'retriever', 'tester', 'writer'];
const MODELS = ['house/small', 'house/large', 'house/unpriced'];

interface Finished {
  root: string;
  /** The ids of all tasks, oldest first. One in ten is a child of the task before it. */
  ids: string[];
}

/** `pages`: also writes a conversation for each task, and a result page unless it failed. */
export function writeFinishedTasks(root: string, count: number, { seed = 1, pages = true } = {}): Finished {
  writeWorkspace(root);
  for (const folder of ['tasks/completed', 'tasks/failed', 'results', 'sessions', 'events'])
    fs.mkdirSync(path.join(root, folder), { recursive: true });
  fs.mkdirSync(path.join(root, '.guild'), { mode: 0o700, recursive: true });
  const random = numbersFrom(seed);
  const ids: string[] = [];
  const lines = new Map<string, string[]>();
  for (let n = 0; n < count; n++) {
    const task = finishedTask(n, count, ids[n - 1], random);
    ids.push(task.id);
    writeFiles(root, task, pages);
    const day = task.createdAt.slice(0, 10);
    if (!lines.has(day)) lines.set(day, []);
    lines.get(day)!.push(eventLines(task));
  }
  for (const [day, texts] of lines) fs.writeFileSync(path.join(root, 'events', `${day}.jsonl`), texts.join(''));
  return { root, ids };
}

interface FinishedTask {
  id: string;
  parent: string | undefined;
  agent: string;
  model: string;
  description: string;
  hasFailed: boolean;
  createdAt: string;
  endedAt: string;
  usage: Record<string, number>;
}

function finishedTask(n: number, count: number, before: string | undefined, random: () => number): FinishedTask {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const parent = n % 10 === 9 ? before : undefined;
  const tail = Math.floor(random() * 36 ** 6).toString(36);
  const createdMs = START_MS + Math.floor((n / count) * DAYS * DAY_MS);
  const usage = {
    turns: 1,
    tool_calls: 1,
    input_tokens: 200 + Math.floor(random() * 2000),
    output_tokens: 10 + Math.floor(random() * 200),
    cached_tokens: 0,
    micro_usd: Math.floor(random() * 5000),
    busy_ms: Math.floor(random() * 4000),
  };
  return {
    id: parent === undefined ? `task_${n.toString(36)}${tail}` : `${parent}.call-${tail}`,
    parent,
    agent: pick(AGENTS),
    model: pick(MODELS),
    description: `Which runtime does service ${Math.floor(random() * 5000)} use, and on which port does it listen?`,
    hasFailed: random() < 0.05,
    createdAt: new Date(createdMs).toISOString(),
    endedAt: new Date(createdMs + usage.busy_ms).toISOString(),
    usage,
  };
}

function writeFiles(root: string, task: FinishedTask, pages: boolean): void {
  const { id, parent, agent, description, hasFailed, createdAt, endedAt, usage } = task;
  const answer = 'It runs in podman and listens on port 6379.';
  const session = `${agent}-${id}`.slice(0, 100);
  const record = {
    id,
    ...(parent ? { parent } : {}),
    root: parent ?? id,
    depth: parent ? 1 : 0,
    role: parent ? 'call' : 'root',
    description,
    to: agent,
    from: parent ? AGENT : 'human',
    requirements: [],
    dependencies: [],
    context: { original_goal: description },
    priority: 'C',
    created_by: parent ? AGENT : 'human',
    created_at: createdAt,
    claimed_by: agent,
    claimed_at: createdAt,
    attempts: 0,
    session,
    ...(hasFailed ? { error: { code: 'tool_failed', message: 'the service did not answer' } } : { result: answer }),
    ended_at: endedAt,
    usage,
    own_usage: usage,
    version: 1,
  };
  const file = path.join(root, 'tasks', hasFailed ? 'failed' : 'completed', `${id}.json`);
  fs.writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
  fs.utimesSync(file, new Date(endedAt), new Date(endedAt));
  if (!pages) return;
  if (!hasFailed) fs.writeFileSync(path.join(root, 'results', `${id}.md`), `# ${description}\n\n${answer}\n`);
  fs.writeFileSync(path.join(root, 'sessions', `${session}.session.yaml`), conversation(task, session, answer));
}

function conversation({ id, agent, description, createdAt, endedAt }: FinishedTask, session: string, answer: string) {
  const said = (role: string, content: string, at: string): string =>
    `  - role: ${role}\n    content: '${content}'\n    timestamp: '${at}'\n`;
  return (
    `session_id: ${session}\nagent_id: ${agent}\ncreated: '${createdAt}'\nstatus: completed\ntask: ${id}\nmessages:\n` +
    said('user', description, createdAt) +
    said('assistant', answer, endedAt)
  );
}

function eventLines(task: FinishedTask): string {
  const { id, parent, agent, model, hasFailed, createdAt, endedAt, usage } = task;
  const { input_tokens, output_tokens, cached_tokens, micro_usd, busy_ms } = usage;
  const who = { peer: '2o35tikunb', task: id, agent };
  const role = parent ? 'call' : 'root';
  const lineage = parent ? { parent, root: parent } : {};
  const price = model === 'house/unpriced' ? { micro_usd: 0, unpriced: true } : { micro_usd };
  const tokens = { input_tokens, output_tokens, cached_tokens, ...price, ms: busy_ms };
  return [
    { at: createdAt, name: 'task.created', ...who, cause: 'human', ...lineage },
    { at: endedAt, name: 'model.answered', ...who, role, turn: 1, calls: 1, model, ...tokens },
    { at: endedAt, name: 'tool.ran', ...who, role, tool: 'read_file', cause: 'xfmieb51q8', ok: true, ms: 1 },
    { at: endedAt, name: hasFailed ? 'task.failed' : 'task.completed', ...who, role, usage },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('');
}

/** Numbers from 0 to 1 (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
