/**
 * Long thoughts are blobs. After a power cut at any change, every blob that a conversation names is
 * on the disk and complete, and the story ends as it does without one.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Model } from '../../src/ports/model.js';
import { AT_ONCE, cluster, play, ROOT, WHEN_ASKED, type Proc } from '../kit/cluster.js';
import { crashDisk } from '../kit/crash-disk.js';
import { outcome } from '../kit/outcome.js';
import { sampleNumbers } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';
import { writeStory } from '../kit/stories.js';
import { BASICS } from '../kit/stories/basics.js';
import { PATTERNS } from '../kit/stories/patterns.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Every answer has thoughts, too long for the conversation itself. */
function thinking(proc: Proc): Proc {
  const { model } = proc.ports;
  const thoughtful: Model = {
    async call(request) {
      const reply = await model.call(request);
      if (!reply.ok) return reply;
      const parts = JSON.stringify([{ type: 'reasoning', text: `${request.task} ${request.turn} `.repeat(400) }]);
      const provider = { name: 'x', model: 'y', message: sha256(parts), chain: sha256(request.task), parts };
      return { ok: true, answer: { ...reply.answer, provider } };
    },
  };
  proc.ports.model = thoughtful;
  return proc;
}

function namedBlobs(disk: SimDisk): { count: number; missing: string[] } {
  const tree = disk.tree();
  let count = 0;
  const missing: string[] = [];
  for (const [file, text] of tree) {
    if (!file.endsWith('.session.yaml')) continue;
    for (const [, hash] of text.matchAll(/^ {4}provider: .* blob: '([0-9a-f]{64})'\}$/gm)) {
      count++;
      const blob = tree.get(`${ROOT}/storage/blobs/${hash}`);
      if (blob === undefined || sha256(blob) !== hash) missing.push(`${file}: ${hash}`);
    }
  }
  return { count, missing };
}

const CHOSEN = [BASICS[0]!, BASICS[2]!, PATTERNS[0]!];

for (const story of CHOSEN) {
  test(`${story.name}: thoughts survive a power cut at every change (SEED=${SEED})`, async () => {
    for (const n of sampleNumbers(`thoughts ${story.name}`)) {
      const disk = simDisk();
      writeStory(disk, story);
      for (const file of disk.tree().keys()) await disk.sync(file);
      const world = cluster(story.script, story.asks, n % 2 === 0 ? AT_ONCE : WHEN_ASKED);
      const failing = crashDisk(disk, n);
      const first = thinking(world.start(failing));
      await play(first, story, disk).catch(() => undefined);
      first.die();
      disk.powerCut(seeded(SEED + n));
      assert.deepEqual(namedBlobs(disk).missing, [], `power cut at change ${n}, SEED=${SEED}`);
      const second = thinking(world.start(disk));
      await play(second, story, disk);
      second.die();
      assert.deepEqual(outcome(disk, story), [], `power cut at change ${n}, SEED=${SEED}`);
      const { count, missing } = namedBlobs(disk);
      assert.deepEqual(missing, []);
      assert.ok(count >= story.calls, `${count} answers have thoughts`);
      if (failing.count() < n) return assert.ok(n > 10, `only ${n} changes were tried`);
    }
  });
}
