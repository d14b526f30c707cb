/** A recording of work in PostgreSQL: at the desk that keeps history. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { place, scripted, succeeds, whileRunning, type Place } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { sampleTests } from '../kit/sample.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';

const test = sampleTests('postgres/record', 1);
const SCRIPT = `- {agent: ana, turn: 1, call: [{delegate_to_agent: {agent: bo, task: "Write it down"}}]}
- {agent: ana, turn: 2, say: "it is written"}
- {agent: bo, turn: 1, call: [{write_file: {path: scratch/bo/plan.md, content: "the plan\\n"}}]}
- {agent: bo, turn: 2, say: "written"}
- {agent: cy, turn: 1, call: [{execute_command: {command: "touch made-by-cy"}}]}
- {agent: cy, turn: 2, say: "made"}
`;
const agent = (tools: string): string => `---\ndescription: Works\ntools: [${tools}]\n---\nWork.\n`;
const copies = (): string[] => fs.readdirSync(os.tmpdir()).filter((name) => name.startsWith('guild-record-'));

test(
  'a run is recorded at the desk, replayed without the store, and its work is in the store',
  {
    skip: NO_POSTGRES,
  },
  async (t) => {
    const { server, schema, end } = await field();
    const files = scripted(SCRIPT, {
      'agents/ana.md': agent('delegate_to_agent'),
      'agents/bo.md': agent('write_file'),
      'agents/cy.md': agent('execute_command'),
    });
    files['guild.yaml'] += `store: ${server.url}?schema=${schema}\ncoordination: { lease: 2s }\n`;
    const [desk, other] = [place(t, files), place(t, files)] as [Place, Place];
    const record = (here: Place, ...more: string[]) => here.guild('record', 'one.jsonl', 'run', 'ana', 'Plan', ...more);
    assert.match((await record(desk)).err, /no desk keeps its history; guild sync DIR --history/);
    succeeds(await desk.guild('publish'));
    const syncs = desk.start('sync', '--history');
    const during = <T>(what: Promise<T>): Promise<T> => whileRunning([syncs], what);
    await during(syncs.says(/shows the store/));
    assert.match((await record(other)).err, new RegExp(`kept by \\S+ in ${fs.realpathSync(desk.root)}`));

    const before = copies();
    const ran = succeeds(await during(record(desk, '--id', 'plan')));
    assert.match(ran.out, /it is written/);
    assert.match(ran.err, /2 tasks of the recording copied into the store/);
    assert.match(ran.err, /replayed without a model/);
    assert.deepEqual(copies(), before, 'the copy is gone');
    assert.equal(fs.existsSync(path.join(other.root, 'one.jsonl')), false);

    // The store has the tasks, the conversations and the events; the mirror has the note.
    const shown = JSON.parse(succeeds(await other.guild('task', 'show', 'plan', '--json')).out) as { state: string };
    assert.equal(shown.state, 'completed');
    const at = (file: string): string => path.join(desk.root, file);
    await during(until(() => fs.existsSync(at('results/plan.md'))));
    assert.match(fs.readFileSync(at('sessions/ana-plan.session.yaml'), 'utf8'), /it is written/);
    assert.equal(fs.readFileSync(at('scratch/bo/plan.md'), 'utf8'), 'the plan\n');
    assert.match(succeeds(await other.guild('why', 'plan')).out, /completed/);

    // The same id again: the store keeps the first task, and the second stays where it was done.
    const again = await during(desk.guild('record', 'two.jsonl', 'run', 'ana', 'Plan', '--id', 'plan'));
    assert.match(again.err, /the store already has a task plan[^]*record again with another --id/);
    for (const name of copies().filter((each) => !before.includes(each)))
      fs.rmSync(path.join(os.tmpdir(), name), { recursive: true });
    // A run that waits for a person goes on in the store, on another machine.
    const asked = await during(desk.guild('record', 'three.jsonl', 'run', 'cy', 'Make it', '--id', 'make'));
    assert.match(asked.err, /make is waiting[^]*2 tasks of the recording copied into the store/);
    const works = other.start('watch');
    const [request] = JSON.parse((await desk.guild('inbox', '--json')).out) as { id: string }[];
    await whileRunning([syncs, works], desk.approve(request!.id));
    await whileRunning(
      [syncs, works],
      until(() => fs.existsSync(at('results/make.md'))),
    );
    assert.match(fs.readFileSync(at('results/make.md'), 'utf8'), /made/);
    // A folder of notes that became a link: the notes of a run stay in the copy.
    const outside = place(t);
    fs.rmSync(at('scratch/bo'), { recursive: true });
    fs.symlinkSync(outside.root, at('scratch/bo'));
    const linked = await during(desk.guild('record', 'four.jsonl', 'run', 'ana', 'Plan', '--id', 'again'));
    assert.match(linked.err, /scratch\/bo\/plan\.md would not be a file of this folder/);
    assert.deepEqual(outside.list('.'), []);
    for (const name of copies().filter((each) => !before.includes(each)))
      fs.rmSync(path.join(os.tmpdir(), name), { recursive: true });
    for (const running of [works, syncs]) {
      running.interrupt();
      await running.ended;
    }
    const replayed = succeeds(await desk.guild('replay', 'one.jsonl'));
    assert.match(replayed.out, /^same: /);
    await end();
  },
);
