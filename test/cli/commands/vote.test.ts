/**
 * The vote on the end of a root task among real processes. SIGSTOP holds some of them, so that a
 * process is killed or joins exactly when some have voted, independent of timing. A seed chooses
 * the process to kill.
 */
import assert from 'node:assert/strict';
import { place, succeeds, type Place, type Spawned } from '../../kit/guild.js';
import { seeded } from '../../kit/sim-processes.js';
import { until } from '../../kit/until.js';
import { SEED } from '../../kit/seed.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('cli/commands/vote', 3);

console.log(`# vote: SEED=${SEED}`);

const agent = (front: string): string => `---\ndescription: Does its part\n${front}\n---\nDo what you are asked.\n`;
const FILES = {
  // A slow peer is not left out of the vote.
  'guild.yaml':
    'model: pretend/x\nproviders:\n  pretend: { kind: scripted, script: script.yaml }\nwatch: { rescan: 1s }\ngit: false\ncoordination: { mode: mesh, vote: 1h }\n',
  'script.yaml': `
- {agent: ann, turn: 1, call: [{delegate_to_agent: {agent: eve, task: help}}]}
- {agent: eve, say: Helped.}
- {agent: ann, say: Done.}
`,
  'agents/ann.md': agent('tools: [delegate_to_agent]\nagents: [eve]'),
  'agents/ben.md': agent('tools: []'),
  'agents/cyd.md': agent('tools: []'),
  'agents/dan.md': agent('tools: []'),
  'agents/eve.md': agent('tools: []'),
};

interface Member extends Spawned {
  peer: string;
}

/** Started, and known to the other processes. */
async function member(workspace: Place, ...names: string[]): Promise<Member> {
  const running = workspace.spawn('agent', 'start', ...names);
  const peer = await until(() => peers(workspace).find(({ pid }) => pid === running.child.pid)?.id);
  return { ...running, peer };
}

function peers(workspace: Place): { id: string; pid: number }[] {
  return workspace.list('agents/live').flatMap((file) => {
    if (!file.endsWith('.json') || file.startsWith('.')) return [];
    try {
      return [
        { pid: (JSON.parse(workspace.read(`agents/live/${file}`)) as { pid: number }).pid, id: file.slice(0, -5) },
      ];
    } catch {
      return []; // it left meanwhile
    }
  });
}

interface Said {
  type: string;
  peer: string;
  phase?: number;
  ballot: number;
  ready?: boolean;
}

const linesOf = (workspace: Place, folder: string, name: RegExp): string[] =>
  workspace
    .list(folder)
    .filter((file) => name.test(file))
    .flatMap((file) => workspace.read(`${folder}/${file}`).split('\n').slice(0, -1));

const notes = (workspace: Place): Said[] =>
  linesOf(workspace, 'bus', /^task.*\.jsonl$/).flatMap((line) => {
    const { body } = JSON.parse(line) as { body?: Said };
    return body?.type.startsWith('completion_') ? [body] : [];
  });

/** Whether the peer has voted idle in this phase of the current round. */
function voted(workspace: Place, { peer }: Member, phase: number): boolean {
  const all = notes(workspace);
  const ballot = all.findLast(({ type }) => type === 'completion_probe')?.ballot;
  return all.some(
    (note) =>
      note.type === 'completion_vote' &&
      note.ballot === ballot &&
      note.peer === peer &&
      (note.phase ?? 1) === phase &&
      note.ready === true,
  );
}

const asked = (workspace: Place, phase: number): boolean =>
  notes(workspace).some((note) => note.type === 'completion_probe' && (note.phase ?? 1) === phase);

async function certified(workspace: Place): Promise<{ agreed: string[]; certificate: unknown }> {
  const all = (): { name: string; task?: string; agreed: string[] }[] =>
    linesOf(workspace, 'events', /\.jsonl$/).map((line) => JSON.parse(line) as never);
  const isEnd = ({ name, task }: { name: string; task?: string }): boolean => name === 'task.completed' && task === 'q';
  // The event and the record: either may be seen first.
  await until(() => all().some(isEnd) && workspace.list('tasks/completed').includes('q.json'));
  const lines = all();
  const ends = lines.filter(isEnd);
  assert.equal(ends.length, 1, 'it ends once');
  const { certificate } = JSON.parse(workspace.read('tasks/completed/q.json')) as { certificate: unknown };
  return { agreed: lines.findLast(({ name }) => name === 'root.certified')!.agreed.toSorted(), certificate };
}

const ids = (...all: Member[]): string[] => all.map(({ peer }) => peer).toSorted();
const pause = ({ child }: Member): boolean => child.kill('SIGSTOP');
const goOn = ({ child }: Member): boolean => child.kill('SIGCONT');

async function stop(...all: Member[]): Promise<void> {
  for (const { child } of all) child.kill('SIGTERM');
  await Promise.all(all.map(({ ended }) => ended));
}

const add = async (workspace: Place): Promise<unknown> =>
  succeeds(await workspace.guild('task', 'add', 'Do it', '--to', 'ann', '--id', 'q'));

test(`a voter is killed between its two votes: the others vote again without it (SEED=${SEED})`, async (t) => {
  const workspace = place(t, FILES);
  const [ann, ben, cyd] = [
    await member(workspace, 'ann', 'eve'),
    await member(workspace, 'ben'),
    await member(workspace, 'cyd'),
  ];
  const [victim, other] = seeded(SEED)() < 0.5 ? [ben, cyd] : [cyd, ben];
  pause(other);
  await add(workspace);
  await until(() => voted(workspace, victim, 1));
  pause(victim);
  goOn(other); // now the first phase is complete, and the second cannot be
  await until(() => voted(workspace, other, 2));
  assert.ok(
    !voted(workspace, victim, 2) && !workspace.list('tasks/completed').includes('q.json'),
    'it waits for the second vote',
  );
  victim.child.kill('SIGKILL');
  await victim.ended;
  const { agreed, certificate } = await certified(workspace);
  assert.deepEqual(agreed, ids(ann, other));
  assert.deepEqual(certificate, { open: 0, unread: 0, effects: 0, agreed: 2, of: 2 });
  const ballots = new Set(notes(workspace).map(({ ballot }) => ballot));
  assert.ok(ballots.size > 1, 'a ballot of its own');
  await stop(ann, other);
});

test('the vote counter is killed before all have voted: the next host of its agent asks again', async (t) => {
  const workspace = place(t, FILES);
  const [ann, ben] = [await member(workspace, 'ann', 'eve'), await member(workspace, 'ben')];
  pause(ben);
  await add(workspace);
  await until(() => asked(workspace, 1));
  ann.child.kill('SIGKILL');
  await ann.ended;
  const heir = await member(workspace, 'ann', 'eve');
  goOn(ben);
  const { agreed, certificate } = await certified(workspace);
  assert.deepEqual(agreed, ids(heir, ben));
  assert.deepEqual(certificate, { open: 0, unread: 0, effects: 0, agreed: 2, of: 2 });
  await stop(heir, ben);
});

test('a process that joins during the first votes is asked too', async (t) => {
  const workspace = place(t, FILES);
  const [ann, ben, cyd] = [
    await member(workspace, 'ann', 'eve'),
    await member(workspace, 'ben'),
    await member(workspace, 'cyd'),
  ];
  pause(cyd);
  await add(workspace);
  await until(() => voted(workspace, ben, 1));
  const dan = await member(workspace, 'dan');
  goOn(cyd);
  const { agreed, certificate } = await certified(workspace);
  assert.deepEqual(agreed, ids(ann, ben, cyd, dan));
  assert.deepEqual(certificate, { open: 0, unread: 0, effects: 0, agreed: 4, of: 4 });
  await stop(ann, ben, cyd, dan);
});
