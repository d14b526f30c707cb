/**
 * The vote on the end of a root among real processes. Some are held with SIGSTOP, so that one can be killed, or another can join, exactly when
 * some have voted and others have not; nothing depends on how fast anybody is. Who dies is chosen by a seed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, succeeds, type Place, type Spawned } from '../../kit/guild.js';
import { seeded } from '../../kit/sim-processes.js';
import { until } from '../../kit/until.js';
import { SEED } from '../../kit/seed.js';

console.log(`# vote: SEED=${SEED}`);

const agent = (front: string): string => `---\ndescription: Does its part\n${front}\n---\nDo what you are asked.\n`;
const FILES = {
  // Nobody is left out for being slow.
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

/** Started, and known to the others. */
async function member(here: Place, ...names: string[]): Promise<Member> {
  const running = here.spawn('agent', 'start', ...names);
  const peer = await until(() => peers(here).find(({ pid }) => pid === running.child.pid)?.id);
  return { ...running, peer };
}

function peers(here: Place): { id: string; pid: number }[] {
  return here.list('agents/live').flatMap((file) => {
    if (!file.endsWith('.json') || file.startsWith('.')) return [];
    try {
      return [{ pid: (JSON.parse(here.read(`agents/live/${file}`)) as { pid: number }).pid, id: file.slice(0, -5) }];
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

const linesOf = (here: Place, folder: string, name: RegExp): string[] =>
  here
    .list(folder)
    .filter((file) => name.test(file))
    .flatMap((file) => here.read(`${folder}/${file}`).split('\n').slice(0, -1));

const said = (here: Place): Said[] =>
  linesOf(here, 'bus', /^task.*\.jsonl$/).flatMap((line) => {
    const { body } = JSON.parse(line) as { body?: Said };
    return body?.type.startsWith('completion_') ? [body] : [];
  });

/** At rest, in this phase of the ballot that counts. */
function voted(here: Place, { peer }: Member, phase: number): boolean {
  const all = said(here);
  const ballot = all.findLast(({ type }) => type === 'completion_probe')?.ballot;
  return all.some(
    (one) =>
      one.type === 'completion_vote' &&
      one.ballot === ballot &&
      one.peer === peer &&
      (one.phase ?? 1) === phase &&
      one.ready === true,
  );
}

const asked = (here: Place, phase: number): boolean =>
  said(here).some((one) => one.type === 'completion_probe' && (one.phase ?? 1) === phase);

async function certified(here: Place): Promise<{ agreed: string[]; certificate: unknown }> {
  const all = (): { name: string; task?: string; agreed: string[] }[] =>
    linesOf(here, 'events', /\.jsonl$/).map((line) => JSON.parse(line) as never);
  const isEnd = ({ name, task }: { name: string; task?: string }): boolean => name === 'task.completed' && task === 'q';
  await until(() => all().some(isEnd));
  const lines = all();
  const ends = lines.filter(isEnd);
  assert.equal(ends.length, 1, 'it ends once');
  const { certificate } = JSON.parse(here.read('tasks/completed/q.json')) as { certificate: unknown };
  return { agreed: lines.findLast(({ name }) => name === 'root.certified')!.agreed.toSorted(), certificate };
}

const ids = (...all: Member[]): string[] => all.map(({ peer }) => peer).toSorted();
const pause = ({ child }: Member): boolean => child.kill('SIGSTOP');
const goOn = ({ child }: Member): boolean => child.kill('SIGCONT');

async function stop(...all: Member[]): Promise<void> {
  for (const { child } of all) child.kill('SIGTERM');
  await Promise.all(all.map(({ ended }) => ended));
}

const add = async (here: Place): Promise<unknown> =>
  succeeds(await here.guild('task', 'add', 'Do it', '--to', 'ann', '--id', 'q'));

test(`one is killed after its first vote and before its second: they vote anew without it (SEED=${SEED})`, async (t) => {
  const here = place(t, FILES);
  const [ann, ben, cyd] = [await member(here, 'ann', 'eve'), await member(here, 'ben'), await member(here, 'cyd')];
  const [victim, other] = seeded(SEED)() < 0.5 ? [ben, cyd] : [cyd, ben];
  pause(other);
  await add(here);
  await until(() => voted(here, victim, 1));
  pause(victim);
  goOn(other); // now the first phase is complete, and the second cannot be
  await until(() => voted(here, other, 2));
  assert.ok(
    !voted(here, victim, 2) && !here.list('tasks/completed').includes('q.json'),
    'it waits for the second vote',
  );
  victim.child.kill('SIGKILL');
  await victim.ended;
  const { agreed, certificate } = await certified(here);
  assert.deepEqual(agreed, ids(ann, other));
  assert.deepEqual(certificate, { open: 0, unread: 0, effects: 0, agreed: 2, of: 2 });
  const ballots = new Set(said(here).map(({ ballot }) => ballot));
  assert.ok(ballots.size > 1, 'a ballot of its own');
  await stop(ann, other);
});

test('who counts the votes is killed before all have voted: whoever has its agent next asks anew', async (t) => {
  const here = place(t, FILES);
  const [ann, ben] = [await member(here, 'ann', 'eve'), await member(here, 'ben')];
  pause(ben);
  await add(here);
  await until(() => asked(here, 1));
  ann.child.kill('SIGKILL');
  await ann.ended;
  const heir = await member(here, 'ann', 'eve');
  goOn(ben);
  const { agreed, certificate } = await certified(here);
  assert.deepEqual(agreed, ids(heir, ben));
  assert.deepEqual(certificate, { open: 0, unread: 0, effects: 0, agreed: 2, of: 2 });
  await stop(heir, ben);
});

test('one joins while the first votes are cast: it is asked too', async (t) => {
  const here = place(t, FILES);
  const [ann, ben, cyd] = [await member(here, 'ann', 'eve'), await member(here, 'ben'), await member(here, 'cyd')];
  pause(cyd);
  await add(here);
  await until(() => voted(here, ben, 1));
  const dan = await member(here, 'dan');
  goOn(cyd);
  const { agreed, certificate } = await certified(here);
  assert.deepEqual(agreed, ids(ann, ben, cyd, dan));
  assert.deepEqual(certificate, { open: 0, unread: 0, effects: 0, agreed: 4, of: 4 });
  await stop(ann, ben, cyd, dan);
});
