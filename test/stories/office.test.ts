/**
 * The office story, pass by pass: the files after each pump, and what the human sees in between.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster, ROOT } from '../kit/cluster.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { writeStory, STORIES } from '../kit/stories.js';

const story = STORIES.find((one) => one.name.startsWith('the office'))!;

/** Tasks by folder, with children named by their agent. */
function tasks(disk: SimDisk): string {
  const found: string[] = [];
  for (const state of ['pending', 'active', 'waiting', 'completed', 'failed']) {
    for (const name of disk.list(`${ROOT}/tasks/${state}`)) {
      const task = JSON.parse(disk.tree().get(`${ROOT}/tasks/${state}/${name}`)!) as { to?: string };
      found.push(`${task.to} ${state}`);
    }
  }
  return found.sort().join(', ');
}

/** The number of messages of each agent. */
function sessions(disk: SimDisk): string {
  const files = disk.list(`${ROOT}/sessions`).sort();
  return files
    .map((name) => `${name.split('-')[0]} ${disk.tree().get(`${ROOT}/sessions/${name}`)!.split('- role:').length - 1}`)
    .sort()
    .join(', ');
}

const BOTH = (who: string): string => `${who} completed, human completed`;

test('the office story takes fourteen steps, one per pump', async () => {
  const disk = simDisk();
  writeStory(disk, story);
  const world = cluster(story.script, story.asks);
  const proc = world.start(disk);
  const pump = async (): Promise<boolean> => (await proc.engine.pump()).moved;
  const tick = (): void => assert.equal(story.human!(disk), true, 'there is something to answer');
  const outbox = (): string | undefined => disk.tree().get(`${ROOT}/inbox/slack-outbox.jsonl`);

  await pump(); // 1, 2: the message reaches the planner, which gives the executor a task
  assert.equal(tasks(disk), 'executor pending, planner waiting');
  assert.equal(sessions(disk), 'planner 4');
  await pump(); // 3: the executor looks at the current state, and proposes a command
  assert.equal(tasks(disk), 'executor waiting, human pending, planner waiting');
  assert.match(
    disk.tree().get(`${ROOT}/tasks/approvals.task.md`)!,
    /- \[_\] A @human #approval `Approve command: bin\/podman ps`/,
  );
  const calls = world.calls.length;
  // 4: nothing happens until the human looks
  for (let again = 0; again < 3; again++) assert.equal(await pump(), false);
  assert.equal(world.calls.length, calls, 'waiting costs no model call');
  tick();
  await pump(); // 5: the command runs; its outcome is in the session, and the model has not seen it
  assert.equal(tasks(disk), 'executor pending, human completed, planner waiting');
  assert.equal(world.calls.length, calls);
  assert.match(disk.tree().get(`${ROOT}/tasks/approvals.task.md`)!, /fate: done/);
  await pump(); // 6: the executor concludes
  assert.equal(tasks(disk), `${BOTH('executor')}, planner waiting`);
  await pump(); // 7: the planner asks for the text
  assert.equal(tasks(disk), `evaluator pending, ${BOTH('executor')}, planner waiting`);
  await pump(); // 8: the evaluator writes
  assert.equal(tasks(disk), `evaluator completed, ${BOTH('executor')}, planner waiting`);
  await pump(); // 9: the planner passes it on to be sent
  assert.equal(
    tasks(disk),
    'evaluator completed, executor completed, executor pending, human completed, planner waiting',
  );
  await pump(); // 10: the executor proposes how to send it
  assert.equal(outbox(), undefined);
  assert.equal(await pump(), false); // 11
  tick();
  await pump(); // 12: it is sent, once
  assert.equal(outbox()!.split('\n').length - 1, 1);
  await pump(); // 13
  await pump(); // 14
  assert.equal(
    tasks(disk),
    'evaluator completed, executor completed, executor completed, human completed, human completed, planner completed',
  );
  assert.equal(await pump(), false);
  assert.equal(world.calls.length, story.calls);
  assert.equal(outbox()!.split('\n').length - 1, 1);
});
