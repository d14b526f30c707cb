/** Mesh with one process per agent: the fittest offer wins, and a crash changes only the winner. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NoteBody } from '../../../src/domain/coordination/note.js';
import { cluster, type Proc, type Cluster } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const agent = (front: string): string => `---\ndescription: Does its part\n${front}\n---\nDo what you are asked.\n`;
const AGENTS = {
  ana: agent('tools: [request_dependency]'),
  ben: agent('expertise: [schema, sql]'),
  cyd: agent('expertise: [schema]'),
  dan: agent('expertise: [colours]'),
};
const SCRIPT = `
- {agent: ana, turn: 1, call: [{request_dependency: {type: expertise, need: columns, expertise: [schema, sql]}}]}
- {agent: [ben, cyd], say: "id, name, of {{agent}}"}
- {agent: ana, turn: 2, when: '/"status":"resolved","provider":"(\\w+)"/', say: "By {{1}}."}
`;

function start(): { disk: SimDisk; house: Cluster; enter(name: string): Proc } {
  const disk = simDisk();
  writeStory(disk, {
    name: 'mesh',
    agents: AGENTS,
    files: { 'bus/state.jsonl': '' },
    tasks: { t: { description: 'Write it', to: 'ana' } },
    script: SCRIPT,
    results: {},
    calls: 3,
  });
  const house = cluster(SCRIPT);
  return { disk, house, enter: (name) => house.start(disk, { agents: [name] }) };
}

/** Pumps the processes in turn until the condition holds. The clock advances when nothing moves. */
async function together(procs: Proc[], until: () => Promise<boolean>): Promise<void> {
  for (let rounds = 0; rounds < 200; rounds++) {
    let due = Infinity;
    let moved = false;
    for (const proc of procs) {
      const report = await proc.engine.pump();
      moved ||= report.moved;
      due = Math.min(due, report.due ?? Infinity);
      if (await until()) return;
    }
    const { clock } = procs[0]!.ports;
    if (!moved) await clock.sleep(Math.max(1, due === Infinity ? 1000 : due - clock.now().getTime()));
  }
  throw new Error('the condition never held');
}

async function resultOf(proc: Proc, id: string): Promise<string | undefined> {
  return (await proc.ports.tasks.read(id))?.task.result;
}

function notesOf(proc: Proc): NoteBody[] {
  void proc.ports.bus.refresh();
  return proc.ports.bus.read('dependency').map((note) => note.body);
}

test('the fittest agent offers first and wins, the others step back, and notes record it', async () => {
  const { enter, house } = start();
  const procs = ['dan', 'cyd', 'ben', 'ana'].map(enter);
  await together(procs, async () => (await resultOf(procs[3]!, 't')) !== undefined);
  assert.equal(await resultOf(procs[3]!, 't'), 'By ben.');
  assert.equal(house.calls.length, 3);
  const notes = notesOf(procs[0]!);
  const offers = notes.flatMap((body) => (body.type === 'dependency_offer' ? [[body.provider, body.steppedBack]] : []));
  assert.deepEqual(offers, [
    ['ben', undefined],
    ['cyd', 'ben'],
  ]);
  assert.deepEqual(
    notes.map((body) => body.type).filter((type) => type !== 'dependency_offer'),
    ['dependency_request', 'dependency_award', 'dependency_resolution'],
  );
});

test('a request waits for a peer that has not started yet', async () => {
  const { enter } = start();
  const ana = enter('ana');
  await together([ana], async () => ana.ports.tasks.openCount() === 2);
  const cyd = enter('cyd');
  await together([ana, cyd], async () => (await resultOf(ana, 't')) !== undefined);
  assert.equal(await resultOf(ana, 't'), 'By cyd.');
});

test('a peer that dies after its offer loses to a live one', async () => {
  const { enter } = start();
  const [ana, ben, cyd] = ['ana', 'ben', 'cyd'].map(enter) as [Proc, Proc, Proc];
  const hasOffered = async (): Promise<boolean> =>
    notesOf(ana).some((body) => body.type === 'dependency_offer' && body.provider === 'ben');
  await together([ana, ben], hasOffered);
  ben.die();
  await together([ana, cyd], async () => (await resultOf(ana, 't')) !== undefined);
  assert.equal(await resultOf(ana, 't'), 'By cyd.');
});

test('a peer that dies after the award is replaced by the next best', async () => {
  const { enter, disk } = start();
  const [ana, ben, cyd] = ['ana', 'ben', 'cyd'].map(enter) as [Proc, Proc, Proc];
  await together([ana, ben], async () => notesOf(ana).some((body) => body.type === 'dependency_award'));
  ben.die();
  assert.ok(
    disk.list('/w/tasks/pending').some((name) => name.includes('provide-1')),
    'it has not been claimed',
  );
  await together([ana, cyd], async () => (await resultOf(ana, 't')) !== undefined);
  assert.equal(await resultOf(ana, 't'), 'By cyd.');
});

test('if no candidate ever joins, the request fails with nobody_fit', async () => {
  const { enter } = start();
  const ana = enter('ana');
  await together([ana], async () => ana.ports.tasks.openCount() === 0);
  const ended = await ana.ports.tasks.ended({ state: 'failed' });
  assert.equal(ended.find(({ task }) => task.role === 'dependency')?.task.error?.code, 'nobody_fit');
});
