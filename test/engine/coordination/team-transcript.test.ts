/** A team's discussion can be read while it runs: one line for each contribution. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { bus } from '../../../src/adapters/bus/index.js';
import { cluster, ROOT, untilQuiet } from '../../kit/cluster.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory, STORIES } from '../../kit/stories.js';

test('bus/team/<task>.jsonl shows who said what in which round', async () => {
  const story = STORIES.find(({ name }) => name.startsWith('a team of three'))!;
  const disk = simDisk();
  writeStory(disk, story);
  const proc = cluster(story.script).start(disk, { bus: bus({ root: ROOT, disk, clock: simClock() }) });
  const seen = new Set<string>();
  for (let passes = 0; passes < 30 && (await proc.engine.pump()).moved; passes++) seen.add(transcript(disk));
  await untilQuiet(proc);
  const lines = transcript(disk)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { from: string; at: string; body: Record<string, unknown> });
  assert.deepEqual(
    lines.map(({ from, body: { round, as } }) => [round, from, as]),
    [
      [1, 'ann', 'update'],
      [1, 'ben', 'update'],
      [1, 'cyd', 'failure'],
      [2, 'ann', 'update'],
      [2, 'ann', 'vote'],
      [2, 'ben', 'vote'],
    ],
  );
  assert.equal(lines[0]!.body['text'], 'I like red');
  assert.ok(lines.every(({ at }) => typeof at === 'string'));
  assert.ok(
    [...seen].some((text) => text.split('\n').length === 4),
    'the first round was published before the second was over',
  );
});

function transcript(disk: SimDisk): string {
  const read = disk.read(path.join(ROOT, 'bus/team/plan.jsonl'));
  return read.kind === 'file' ? read.bytes.toString('utf8') : '';
}
