/**
 * Files that a conversation refers to: its pinned prompt, attached files, the outline of a long
 * one, and the questions of a tool. After a power cut at any change, everything that the
 * conversation names is there, the conversation continues with its first prompt, and no part of a
 * call runs twice.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { test } from 'node:test';
import { engine } from '../../src/engine/pass/pump.js';
import type { Disk } from '../../src/ports/disk.js';
import type { ModelRequest } from '../../src/ports/model.js';
import { messageTokens, textTokens } from '../../src/rules/budget/reserve.js';
import type { Tool } from '../../src/tools/core/tool.js';
import { AT_ONCE, cluster, play, ROOT, WHEN_ASKED, type Cluster, type Proc } from '../kit/cluster.js';
import { crashDisk } from '../kit/crash-disk.js';
import { outcome } from '../kit/outcome.js';
import { sampleNumbers } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';
import { agent, mark, type Story } from '../kit/stories/story.js';
import { writeStory } from '../kit/stories.js';

const READS = 7;
const WINDOW = 9000;
const LONG = 'a line that fills the window of the model\n'.repeat(110);
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');
const RAN = path.join(ROOT, 'ran.txt');

const ANA = 'description: Releases\ntools: [read_file, lab_release]';
const STORY: Story = {
  name: 'a long conversation with a picture and a tool that asks',
  agents: { ana: agent(ANA, 'Pinned when it started.') },
  files: {
    ...Object.fromEntries([...Array(READS).keys()].map((n) => [`long-${n + 1}.txt`, `${n} ${LONG}`])),
    'notes.txt': 'a note',
    'pic.png': 'a picture',
    'ran.txt': '',
  },
  tasks: { release: { description: 'Release it', to: 'ana', attachments: ['pic.png', 'notes.txt'] } },
  script: [
    ...[...Array(READS).keys()].map(
      (n) => `- {agent: ana, turn: ${n + 1}, call: [{read_file: {path: long-${n + 1}.txt}}]}`,
    ),
    `- {agent: ana, turn: ${READS + 1}, call: [{lab_release: {}}]}`,
    '- {agent: ana, when: /unknown_outcome/, say: It may be out.}',
    '- {agent: ana, say: "It said {{last}}."}',
  ].join('\n'),
  human: (disk) => mark(disk, '[x]'),
  results: { release: /It said released a,a|It may be out\./ },
  calls: READS + 2,
};

/** An effect that asks twice and leaves a line each time it runs. */
function labRelease(disk: Disk): Tool {
  return {
    name: 'lab_release',
    description: 'Releases.',
    parameters: { type: 'object', properties: {} },
    kind: 'effect',
    plugin: 'lab',
    async run(_, { answers }) {
      disk.append(RAN, `part ${answers.length}\n`);
      await disk.sync(RAN);
      if (answers.length === 2) return { kind: 'text', text: `released ${answers.join()}` };
      const text = `Question ${answers.length + 1}?`;
      return { kind: 'question', question: { text, choices: ['a', 'b'], default: 'a' } };
    },
  };
}

interface Sent {
  system: string;
  tokens: number;
}

/** `sent`: what each model call was given. */
function started(world: Cluster, disk: Disk, sent: Sent[]): Proc {
  const proc = world.start(disk, { config: { windows: { 'demo/model': WINDOW } } });
  const { tools, workspaceFiles, model } = proc.ports;
  const lab = labRelease(disk);
  const ports = {
    ...proc.ports,
    model: {
      call(request: ModelRequest) {
        const head = textTokens(request.system + JSON.stringify(request.tools));
        const tokens = request.messages.reduce((sum, message) => sum + messageTokens(message), head);
        sent.push({ system: request.system, tokens });
        return model.call(request);
      },
    },
    tools: {
      has: (name: string) => name === lab.name || tools.has(name),
      get: (name: string) => (name === lab.name ? lab : tools.get(name)),
    },
    workspaceFiles: {
      ...workspaceFiles,
      readMedia: (_: string, file: string) => ({
        ok: true as const,
        value: file.endsWith('.png') ? { mediaType: 'image/png', data: PNG } : undefined,
      }),
    },
  };
  return { ...proc, ports, engine: engine(ports) };
}

interface Found {
  hasAnswer: boolean;
  compactions: number;
  pictures: number;
  missing: string[];
}

/**
 * Finds the files that the conversation names. Its pins may be missing until the first answer is
 * written.
 */
function look(disk: SimDisk): Found {
  const tree = disk.tree();
  const text = [...tree].find(([file]) => file.endsWith('.session.yaml'))?.[1] ?? '';
  const hasAnswer = text.includes('role: assistant');
  const pins = hasAnswer ? [...text.matchAll(/^pins: .*$/gm)].flatMap(([line]) => hashesIn(line)) : [];
  const files = [...text.matchAll(/^ {4}files: .*$/gm)].flatMap(([line]) => hashesIn(line));
  const isComplete = (hash: string): boolean => {
    const read = disk.read(path.join(ROOT, 'storage/blobs', hash));
    return read.kind === 'file' && createHash('sha256').update(read.bytes).digest('hex') === hash;
  };
  return {
    hasAnswer,
    compactions: text.split('kind: compacted').length - 1,
    pictures: files.length,
    missing: [...pins, ...files].filter((hash) => !isComplete(hash)),
  };
}

function hashesIn(line: string): string[] {
  return line.match(/[0-9a-f]{64}/g) ?? [];
}

for (const [name, lag] of [
  ['when asked', WHEN_ASKED],
  ['at once', AT_ONCE],
] as const) {
  test(`${STORY.name} survives a power cut at every change, disk ${name} (SEED=${SEED})`, async () => {
    for (const n of sampleNumbers(`context ${name}`)) {
      const disk = simDisk();
      writeStory(disk, STORY);
      for (const file of disk.tree().keys()) await disk.sync(file);
      const world = cluster(STORY.script, [], lag);
      const failing = crashDisk(disk, n);
      const sent: Sent[] = [];
      const first = started(world, failing, sent);
      await play(first, STORY, disk).catch(() => undefined);
      first.die();
      disk.powerCut(seeded(SEED + n));
      const where = `power cut at change ${n}, SEED=${SEED}`;
      const atCut = look(disk);
      assert.deepEqual(atCut.missing, [], where);
      disk.save(path.join(ROOT, 'agents/ana.md'), agent(ANA, 'Changed after the cut.'));
      const before = sent.length;
      const second = started(world, disk, sent);
      await play(second, STORY, disk);
      second.die();
      assert.deepEqual(outcome(disk, STORY), [], where);
      const after = look(disk);
      assert.deepEqual([after.missing, after.pictures], [[], 1], where);
      assert.ok(after.compactions > 0, 'the conversation is longer than the window');
      const parts = disk.tree().get(RAN)!.trim().split('\n');
      assert.equal(new Set(parts).size, parts.length, `${where}: ${parts.join()}`);
      checkCalls(sent, before, atCut.hasAnswer, where);
      if (failing.count() < n) return assert.ok(n > 40, `only ${n} changes were tried`);
    }
  });
}

function checkCalls(sent: readonly Sent[], before: number, hasAnswer: boolean, where: string): void {
  for (const [at, { system, tokens }] of sent.entries()) {
    assert.ok(tokens <= WINDOW, `${where}: call ${at + 1} has ${tokens} tokens`);
    if (at < before || hasAnswer) assert.match(system, /Pinned when it started/, where);
  }
}
