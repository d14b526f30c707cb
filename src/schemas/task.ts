/**
 * The record of a task: `tasks/<state>/<id>.json`. Its keys are in the order in which the program
 * prints them. Unknown keys are kept, and `null` counts as absent.
 */
import { isSafeId } from '../domain/task/id.js';
import { TASK_VERSION } from '../domain/task/task.js';
import { named, needed, nullable, type About } from './about.js';
import { cron, missed, timezone } from './schedule.js';
import { budget, mapping, priority } from './values.js';
import * as z from './zod.js';

const text = z.string({ error: 'text' });
const count = named('whole number', z.int({ error: 'a whole number' }).check(z.gte(0)));
const amount = z.number({ error: 'a number' }).check(z.gte(0));

const idError = 'an id: letters, digits, "_", "-" and ".", at most 100';
const id = named(
  'id',
  z.string({ error: idError }).check(z.refine(isSafeId, { error: idError, params: { code: 'bad_name' } })),
);
const ids = named('id or list of ids', z.union([id, z.array(id)], { error: 'a list of task ids' }));
const texts = named('text or list of text', z.union([text, z.array(text)], { error: 'a list of texts' }));

/**
 * A name that could leave its folder is refused here. An agent that does not exist fails the task
 * later.
 */
const peerError = "an agent's name, or human";
// oxlint-disable-next-line no-control-regex
const PEER = /^@?[^./\\\u0000-\u001f\u007f][^/\\\u0000-\u001f\u007f]{0,99}$/;
const peer = z
  .string({ error: peerError })
  .check(z.refine((name) => PEER.test(name), { error: peerError, params: { code: 'bad_name' } }));

/** A key that may be `null`, with its description and example. */
function field<S extends z.ZodMiniType>(schema: S, description: string, example: string, more: About = {}) {
  return nullable(schema, description, { example, ...more });
}

const waits = z.looseObject(
  {
    tasks: field(ids, 'Ids of tasks. The waiting task is checked again when one of them ends.', '[summarise.call-1]'),
    until: field(text, 'A time. The task is checked again after it.', '"2026-01-31T09:00:00.000Z"'),
    file: field(
      text,
      'A conversation that cannot be read. The task is checked again when that file changes.',
      'planner-1',
    ),
    budget: field(z.unknown(), 'The part of the budget that open children hold.', 'tokens'),
  },
  mapping,
);

const lost = z.looseObject(
  {
    at: needed(text, 'When it was noticed.', { example: '"2026-01-31T09:00:00.000Z"' }),
    agent: needed(text, 'The agent that worked on the task.', { example: 'planner' }),
    messages: needed(count, 'How many messages its conversation had.', { example: '7' }),
    beside: field(count, 'How many other tasks its process worked on. One of them may have caused the loss.', '15', {
      default: 'none',
    }),
  },
  mapping,
);

const written = z.looseObject(
  {
    messages: needed(count, 'How many messages are safely written.', { example: '7' }),
    last: needed(text, 'Role and time of the last of them.', { example: 'assistant 2026-01-31T09:00:05.000Z' }),
    prints: field(text, 'Fingerprints of the messages, by which an edit is noticed.', '1k3x9a0f2b7c'),
    secrets_on: field(
      text,
      'The machine that keeps secrets which the conversation has read. Others leave the task to it while a process lives there.',
      'gpu1',
    ),
  },
  mapping,
);

const place = z.looseObject(
  {
    file: needed(text, 'The file.', { example: 'agents/planner.md' }),
    line: field(count, 'The line, from 1.', '4'),
    column: field(count, 'The column, from 1.', '9'),
    source: field(text, 'The line itself.', '"tools: [serch_files]"'),
  },
  mapping,
);

const error = z.union(
  [
    text,
    z.looseObject({
      code: field(z.unknown(), 'One of the codes of problems.', 'tool_failed'),
      message: needed(text, 'One sentence.', { example: 'the command failed' }),
      where: field(place, 'The place in a file.', '{file: agents/planner.md, line: 4}'),
      hint: field(text, 'One safe next step.', 'fix it, then retry'),
    }),
  ],
  mapping,
);

const usage = z.looseObject(
  {
    turns: field(amount, 'Model calls.', '3'),
    tool_calls: field(amount, 'Tool calls.', '2'),
    input_tokens: field(amount, 'Input tokens.', '1200'),
    output_tokens: field(amount, 'Output tokens.', '300'),
    cached_tokens: field(amount, 'Input tokens that came from the cache.', '1000'),
    micro_usd: field(amount, 'Cost, in millionths of a US dollar.', '4500'),
    busy_ms: field(amount, 'Time inside model and tool calls.', '2500'),
    children: field(amount, 'Tasks created below it.', '2'),
  },
  mapping,
);

const schedule = z.union(
  [
    cron,
    z.looseObject({
      cron: needed(cron, 'Minute, hour, day of the month, month and day of the week.', { example: '"0 9 * * 1"' }),
      timezone: field(timezone, 'The time zone.', 'Europe/Berlin', {
        default: '`timezone` of guild.yaml, else the time zone of the machine',
      }),
      missed: field(missed, '`once`: the last missed run takes place late.', 'once', { default: '`report`' }),
      last: field(text, 'The last due time that was handled.', '"2026-01-26T08:00:00.000Z"'),
      run: field(text, 'The last run.', 'report-20260126T0800Z'),
      planned: field(text, 'The schedule for which the next time was computed.', '0 9 * * 1 Europe/Berlin'),
      note: field(text, 'The last fault.', '2 runs were missed'),
    }),
  ],
  { error: 'a schedule such as "0 9 * * 1", or a mapping with "cron"' },
);

const certificate = z.looseObject(
  {
    open: field(count, 'Open tasks below it.', '0'),
    unread: field(count, 'Unread notes.', '0'),
    effects: field(count, 'Effects without an outcome.', '0'),
    agreed: field(count, 'Processes that agreed.', '2'),
    of: field(count, 'Processes that were asked to agree.', '2'),
  },
  mapping,
);

const context = z.looseObject(
  { original_goal: field(text, 'The goal. Every child keeps it.', 'Ship the release') },
  mapping,
);

export const taskRecord = z.looseObject(
  {
    id: field(
      text,
      'One part of a file name: letters, digits, `_ - .`, no leading dot or dash, at most 100 bytes.',
      'summarise',
      {
        default: 'the name of the file',
      },
    ),
    parent: field(id, 'The task that asked for it.', 'summarise'),
    parent_id: field(id, 'Another name for `parent`; read and not written.', 'summarise'),
    root: field(id, 'The task at the top of the tree.', 'summarise', { default: 'the task itself, or its parent' }),
    depth: field(count, 'How many times in a row agents asked by themselves. Pattern stages do not count.', '1', {
      default: '`0`, below a parent `1`',
    }),
    role: field(text, 'Why its parent wants it: `root`, `subtask`, `call`, `advisor`, `approval`, …', 'root', {
      default: '`root`, below a parent `subtask`',
    }),
    type: field(text, 'A word for the kind of work.', 'research'),
    description: needed(
      z.string({ error: 'text that says what to do' }).check(z.regex(/\S/)),
      'The request: what the agent should do. The only key that a dropped file needs.',
      {
        example: 'Summarise memory/ in five lines',
        hint: 'add a "description": one sentence that says what to do',
      },
    ),
    to: field(peer, 'The agent that does it, or `human`.', 'retriever', { default: 'none: agents bid for it' }),
    from: field(text, 'Who asks.', 'planner'),
    requirements: field(texts, 'Capabilities that the agent must have, all of them.', '[web_search]', {
      default: 'none',
    }),
    dependencies: field(ids, 'Tasks that must be completed first.', '[fetch-data]', { default: 'none' }),
    attachments: field(
      texts,
      'Files of the workspace that its agent gets with the description: images, PDF documents and texts.',
      '[context/plan.png]',
      { default: 'none' },
    ),
    context: field(context, 'Facts for the agent that does it.', '{original_goal: Ship the release}', {
      default: '`original_goal` is the description',
    }),
    priority: field(priority, 'How urgent it is.', 'B', { default: '`C`' }),
    schedule: field(
      schedule,
      'When it is done again and again. The task itself is not worked on; each due time creates a task.',
      '"0 9 * * 1"',
      { default: 'none: it is done once' },
    ),
    budget: field(budget, 'The limits for the task with everything below it.', '{turns: 10}', {
      default: 'the budget of its agent',
    }),
    created_by: field(text, 'Who created it.', 'planner'),
    created_at: field(text, 'When it was created.', '"2026-01-31T09:00:00.000Z"', {
      default: 'when the file was found',
    }),
    claimed_by: field(text, 'Who works on it.', 'retriever'),
    claimed_at: field(text, 'Since when.', '"2026-01-31T09:00:05.000Z"'),
    retries: field(count, 'How often it was opened again after it had failed.', '1'),
    attempts: field(count, 'How many workers in a row were lost without progress.', '0', { default: '`0`' }),
    lost: field(z.array(lost, { error: 'a list' }), 'The workers that were lost.', '[]'),
    session: field(id, 'The conversation in which it is done.', 'retriever-summarise'),
    written: field(
      written,
      'How much of that conversation is safely written. A file with less has lost its end and is held.',
      '{messages: 7, last: "assistant 2026-01-31T09:00:05.000Z"}',
    ),
    waits: field(waits, 'The conditions that a parked task waits for.', '{tasks: [summarise.call-1]}'),
    bids: field(ids, 'The children that were created to find an agent for it.', '[summarise.bid-ana]'),
    result: field(text, 'The answer.', 'Redis runs in podman.'),
    error: field(error, 'Why it failed.', '{code: tool_failed, message: the command failed}'),
    ended_at: field(text, 'When it ended.', '"2026-01-31T09:01:00.000Z"'),
    certificate: field(
      certificate,
      'Of a completed root: nothing below it is open, unread or half done.',
      '{open: 0, unread: 0, effects: 0, agreed: 1, of: 1}',
    ),
    usage: field(usage, 'The cost of the task with everything below it.', '{turns: 3, input_tokens: 1200}'),
    own_usage: field(usage, 'The cost of the task alone.', '{turns: 1, input_tokens: 400}'),
    version: field(count, 'The version of the format. A record of a later version is left alone.', '1', {
      default: `\`${TASK_VERSION}\``,
    }),
  },
  { error: 'a JSON object' },
);
