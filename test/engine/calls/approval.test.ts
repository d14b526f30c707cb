/** A call that needs approval: its approval is read once in a turn, and is never its result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { approvalOf, type Answer } from '../../../src/domain/task/approval.js';
import { isEnded, makeTask } from '../../../src/domain/task/task.js';
import { answerApproval } from '../../../src/engine/approvals/answers.js';
import { childResult } from '../../../src/engine/calls/child-result.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { agent, writeStory } from '../../kit/stories/story.js';

const YES = { approved: true, by: 'human' };

const TWO_PAGES = {
  agents: { ana: agent('description: Writes\ntools: [write_file]') },
  tasks: { page: { description: 'Publish both', to: 'ana' } },
  asks: ['write_file'],
  script: `
- {agent: ana, turn: 1, call: [{write_file: {path: a.txt, content: a}}, {write_file: {path: b.txt, content: b}}]}
- {agent: ana, turn: 2, say: Both are public.}
`,
};

function begin(story: {
  agents: Record<string, string>;
  tasks: Record<string, unknown>;
  script: string;
  asks: string[];
}): {
  disk: SimDisk;
  proc: Proc;
  other: Proc;
} {
  const disk = simDisk();
  writeStory(disk, { name: '', results: {}, calls: 0, ...story });
  const world = cluster(story.script, story.asks);
  return { disk, proc: world.start(disk), other: world.start(disk) };
}

const approvals = (proc: Proc): string[] =>
  [...proc.ports.tasks.open()].flatMap(({ task }) => approvalOf(task)?.id ?? []).sort();

const digestOf = (proc: Proc, id: string): string => approvalOf(proc.ports.tasks.getOpen(id)!.task)!.request.digest;

const AT = '2026-01-01T00:00:00.000Z';

function signed(proc: Proc, id: string, given: typeof YES): Answer {
  const answer = { ...given, at: AT };
  return { ...answer, signature: proc.ports.consent.sign({ task: id, digest: digestOf(proc, id), answer }) };
}

test('an approval that is answered in the middle of a turn is carried out, not reported as a result', async () => {
  const { disk, proc, other } = begin(TWO_PAGES);
  await untilQuiet(proc);
  const [first, second] = approvals(proc);
  await other.ports.tasks.scan(true);
  await answerApproval(other.ports, first!, YES, 'test');

  // The second approval is answered right after the turn has looked at it.
  const { tasks } = proc.ports;
  const read = tasks.read.bind(tasks);
  let isAnswered = false;
  tasks.read = async (id) => {
    const placed = await read(id);
    if (id === second && !isAnswered && placed !== undefined && !isEnded(placed.state)) {
      isAnswered = true;
      await other.ports.tasks.scan(true);
      assert.ok(await answerApproval(other.ports, second, YES, 'test'));
    }
    return placed;
  };
  // A message wakes the task while its second call still waits.
  const about = { by: 'human', at: '2026-01-01T00:00:00.000Z' };
  await proc.ports.intents.submit({ kind: 'tell', id: 'hello', task: 'page', text: 'Hello', ...about });
  await untilQuiet(proc);
  assert.ok(isAnswered);
  for (const name of ['a', 'b']) {
    const page = disk.read(`${ROOT}/${name}.txt`);
    assert.equal(page.kind === 'file' && page.bytes.toString(), name, `${name}.txt was written`);
  }
  for (const id of [first!, second!]) assert.equal((await proc.ports.effects.get(id)).state, 'done', id);
  const session = [...disk.tree()].find(([file]) => file.startsWith(`${ROOT}/sessions/`))![1];
  assert.doesNotMatch(session, /delegation|approved/);
});

test('an approved delegation is carried out: its approval is not its answer', async () => {
  const { disk, proc } = begin({
    agents: {
      lead: agent('description: Leads\ntools: [delegate_to_agent]\nagents: [hand]'),
      hand: agent('description: Helps'),
    },
    tasks: { page: { description: 'Ask', to: 'lead' } },
    asks: ['delegate_to_agent'],
    script: `
- {agent: lead, turn: 1, call: [{delegate_to_agent: {agent: hand, task: help}}]}
- {agent: hand, say: Here is help.}
- {agent: lead, turn: 2, when: /Here is help/, say: I was helped.}
- {agent: lead, turn: 2, say: I was not helped.}
`,
  });
  await untilQuiet(proc);
  await answerApproval(proc.ports, approvals(proc)[0]!, YES, 'test');
  await untilQuiet(proc);
  assert.match(disk.tree().get(`${ROOT}/tasks/completed/page.json`)!, /"I was helped\."/);
});

test('an approval is refused as the result of a call', () => {
  const task = makeTask({
    id: 't.call-1',
    role: 'approval',
    to: 'human',
    description: 'Approve command: ls',
    result: JSON.stringify(YES),
    created_at: '2026-01-01T00:00:00.000Z',
    created_by: 'ana',
  });
  const { text, isError, code } = childResult({ task, state: 'completed' });
  assert.deepEqual([isError, code], [true, 'bug']);
  assert.doesNotMatch(text, /success|true/);
});

test('two processes that take one answer record no refusal', async () => {
  const { disk, proc, other } = begin(TWO_PAGES);
  await untilQuiet(proc);
  const [first] = approvals(proc);
  const seen = digestOf(proc, first!);
  const intent = {
    kind: 'answer',
    task: first!,
    seen,
    answer: YES,
    by: 'human',
    at: '2026-01-01T00:00:00.000Z',
  } as const;
  await proc.ports.intents.submit({ ...intent, id: 'yes', answer: signed(proc, first!, YES) });
  // The other process lists the intent, and then this process carries it out.
  const { intents } = other.ports;
  const list = intents.list.bind(intents);
  intents.list = async () => {
    const listed = await list();
    intents.list = list;
    await untilQuiet(proc);
    return listed;
  };
  await untilQuiet(other);
  await other.ports.flush();
  await proc.ports.flush();
  const events = [...disk.tree()]
    .filter(([file]) => file.startsWith(`${ROOT}/events/`))
    .map(([, text]) => text)
    .join('');
  assert.match(events, /approval\.answered/);
  assert.doesNotMatch(events, /intent\.refused/);
});

test('a second answer that differs is refused', async () => {
  const { disk, proc } = begin(TWO_PAGES);
  await untilQuiet(proc);
  const [first] = approvals(proc);
  const seen = digestOf(proc, first!);
  const intent = { kind: 'answer', task: first!, seen, by: 'human', at: '2026-01-01T00:00:00.000Z' } as const;
  await proc.ports.intents.submit({ ...intent, id: 'a-yes', answer: signed(proc, first!, YES) });
  await proc.ports.intents.submit({ ...intent, id: 'b-no', answer: { approved: false, by: 'human', at: AT } });
  await untilQuiet(proc);
  await proc.ports.flush();
  const events = [...disk.tree()]
    .filter(([file]) => file.startsWith(`${ROOT}/events/`))
    .map(([, text]) => text)
    .join('');
  assert.match(events, /intent\.refused.*b-no|b-no.*intent\.refused/);
});
