/**
 * A conversation of 10,000 turns with one tool call each. The model runs in this process and
 * answers immediately, so the time between two of its calls is the engine's own. Bytes are counted
 * at the disk port; the baseline appends the same messages to a plain file with fdatasync.
 */
import fs from 'node:fs';
import path from 'node:path';
import { disk } from '../../src/adapters/disk/index.js';
import { openWorkspace, type Model } from '../../src/app/index.js';
import type { Disk } from '../../src/ports/disk.js';
import { atMostTimes, median, figure, type Bench, type Row } from '../harness/rows.js';
import { AGENT, writeWorkspace } from '../harness/workspace.js';

const MARKS = [10, 100, 500, 5000, 10_000];
/** A mark's value is the median of this many turns before and after it. */
const WINDOW = 20;

export const longConversation: Bench = {
  name: 'conversation',
  async run(testbed) {
    const rows: Row[] = [];
    for (const turns of [500, testbed.rounds(10_000)]) {
      const { ms, bytes, written } = await grow(testbed.folder('talk'), turns);
      const raw = rawAppend(testbed.folder('raw'), written);
      const marks = MARKS.filter((mark) => mark <= turns);
      const at = (values: number[], mark: number): number =>
        median(values.slice(Math.max(0, mark - WINDOW), Math.min(values.length, mark + WINDOW)));
      if (turns === 500) {
        rows.push(atMostTimes('500 turns: bytes written', sum(bytes) / 1e6, raw.bytes / 1e6, 'MB', 2));
        continue;
      }
      for (const mark of marks)
        rows.push(figure(`turn ${mark}: engine's own time`, at(ms, mark), 'ms', at(raw.ms, mark)));
      const first = at(ms, 100);
      rows.push(atMostTimes(`turn ${turns} over turn 100: time`, at(ms, turns), first, 'ms', 1.5));
      rows.push(atMostTimes(`turn ${turns} over turn 100: bytes`, at(bytes, turns), at(bytes, 100), 'B', 1.1));
      rows.push(atMostTimes(`${turns} turns: bytes written`, sum(bytes) / 1e6, raw.bytes / 1e6, 'MB', 2));
    }
    return rows;
  },
};

interface Grown {
  ms: number[];
  bytes: number[];
  /** The messages each turn added to the conversation, as JSON lines. */
  written: string[];
}

async function grow(root: string, turns: number): Promise<Grown> {
  writeWorkspace(root, { limits: { turns: turns + 10 } });
  const counter = countingDisk();
  const grown: Grown = { ms: [], bytes: [], written: [] };
  let answeredAt = 0;
  let before = 0;
  let seen = 1;
  const model: Model = {
    async call({ turn, messages }) {
      if (turn > 1) {
        grown.ms.push(performance.now() - answeredAt);
        grown.bytes.push(counter.bytes() - before);
        grown.written.push(
          messages
            .slice(seen)
            .map((message) => `${JSON.stringify(message)}\n`)
            .join(''),
        );
      }
      seen = messages.length;
      before = counter.bytes();
      const done = turn > turns;
      // The arguments differ each time: the engine stops a loop of identical calls.
      const args = { path: 'memory/facts.md', lines: turn };
      const toolCalls = done ? [] : [{ id: 'c', name: 'read_file', arguments: args }];
      const answer = {
        text: `Step ${turn}: I look again.`,
        toolCalls,
        inputTokens: 100,
        outputTokens: 20,
        cachedTokens: 0,
        microUsd: 0,
      };
      answeredAt = performance.now();
      return { ok: true, answer: { ...answer, finish: done ? 'stop' : 'tool_calls' } };
    },
  };
  const workspace = await openWorkspace(root, { model, disk: counter.disk });
  const placed = await workspace.run(AGENT, 'Look again and again.');
  await workspace.close();
  if (placed.state !== 'completed') throw new Error(`the task ended as ${placed.state}: ${placed.task.error?.message}`);
  return grown;
}

function countingDisk(): { disk: Disk; bytes(): number } {
  const real = disk();
  let total = 0;
  const count = (bytes: Uint8Array | string): void => {
    total += Buffer.byteLength(bytes);
  };
  return {
    bytes: () => total,
    disk: {
      ...real,
      create(file, bytes) {
        count(bytes);
        return real.create(file, bytes);
      },
      append(file, bytes) {
        count(bytes);
        return real.append(file, bytes);
      },
      patch(file, offset, bytes) {
        count(bytes);
        return real.patch(file, offset, bytes);
      },
    },
  };
}

function rawAppend(folder: string, written: string[]): { ms: number[]; bytes: number } {
  const fd = fs.openSync(path.join(folder, 'raw.jsonl'), 'a');
  const ms: number[] = [];
  let bytes = 0;
  for (const lines of written) {
    const from = performance.now();
    bytes += fs.writeSync(fd, lines);
    fs.fdatasyncSync(fd);
    ms.push(performance.now() - from);
  }
  fs.closeSync(fd);
  return { ms, bytes };
}

function sum(values: number[]): number {
  return values.reduce((a, b) => a + b, 0);
}
