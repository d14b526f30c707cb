/**
 * One conversation that grows to 10,000 turns with a tool call each. The model is in this process and answers at once, so what
 * passes between two of its calls is the engine's own time. Bytes are counted where they leave for the disk, and beside
 * them the same messages are appended to a plain file with fdatasync.
 */
import fs from 'node:fs';
import path from 'node:path';
import { disk } from '../src/adapters/disk/index.js';
import { openWorkspace, type Model } from '../src/app/index.js';
import type { Disk } from '../src/ports/disk.js';
import { atMostTimes, median, told, type Bench, type Row } from './table.js';
import { AGENT, layWorkspace } from './workspace.js';

const MARKS = [10, 100, 500, 5000, 10_000];
/** Turns around a mark whose median stands for it. */
const WINDOW = 20;

export const conversation: Bench = {
  name: 'conversation',
  async run(bed) {
    const rows: Row[] = [];
    for (const turns of [500, bed.rounds(10_000)]) {
      const { ms, bytes, written } = await grow(bed.folder('talk'), turns);
      const raw = rawAppend(bed.folder('raw'), written);
      const marks = MARKS.filter((mark) => mark <= turns);
      const at = (values: number[], mark: number): number =>
        median(values.slice(Math.max(0, mark - WINDOW), Math.min(values.length, mark + WINDOW)));
      if (turns === 500) {
        rows.push(atMostTimes('500 turns: bytes written', sum(bytes) / 1e6, raw.bytes / 1e6, 'MB', 2));
        continue;
      }
      for (const mark of marks)
        rows.push(told(`turn ${mark}: engine's own time`, at(ms, mark), 'ms', at(raw.ms, mark)));
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
  /** What each turn added to the conversation, as JSON lines. */
  written: string[];
}

async function grow(root: string, turns: number): Promise<Grown> {
  layWorkspace(root, { limits: { turns: turns + 10 } });
  const counted = countingDisk();
  const grown: Grown = { ms: [], bytes: [], written: [] };
  let left = 0;
  let before = 0;
  let seen = 1;
  const model: Model = {
    async call({ turn, messages }) {
      if (turn > 1) {
        grown.ms.push(performance.now() - left);
        grown.bytes.push(counted.bytes() - before);
        grown.written.push(
          messages
            .slice(seen)
            .map((message) => `${JSON.stringify(message)}\n`)
            .join(''),
        );
      }
      seen = messages.length;
      before = counted.bytes();
      const done = turn > turns;
      // Never the same twice: that would be a loop, and is stopped as one.
      const look = { path: 'memory/facts.md', lines: turn };
      const toolCalls = done ? [] : [{ id: 'c', name: 'read_file', arguments: look }];
      const answer = {
        text: `Step ${turn}: I look again.`,
        toolCalls,
        inputTokens: 100,
        outputTokens: 20,
        cachedTokens: 0,
        microUsd: 0,
      };
      left = performance.now();
      return { ok: true, answer: { ...answer, finish: done ? 'stop' : 'tool_calls' } };
    },
  };
  const workspace = await openWorkspace(root, { model, disk: counted.disk });
  const placed = await workspace.run(AGENT, 'Look again and again.');
  await workspace.close();
  if (placed.state !== 'completed') throw new Error(`it ended as ${placed.state}: ${placed.task.error?.message}`);
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
