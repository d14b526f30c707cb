/**
 * Each story on the far store with one process, over a ledger in memory. Whenever a model is asked,
 * its earlier answers are in the ledger: a killed process loses at most one for each task.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replay } from '../../src/adapters/far/sessions.js';
import type { LedgerState } from '../../src/adapters/ledger/memory.js';
import type { Message } from '../../src/domain/session/session.js';
import type { ModelRequest } from '../../src/ports/model.js';
import { play } from '../kit/cluster.js';
import { farCluster } from '../kit/far/cluster.js';
import { CALM } from '../kit/far/sim-ledger.js';
import { outcome } from '../kit/outcome.js';
import { sampleOf } from '../kit/sample.js';
import { SEED } from '../kit/seed.js';
import { seeded } from '../kit/sim-processes.js';
import { STORIES } from '../kit/stories.js';

/** A model may answer before the last commit does. */
const SLOW = { ...CALM, delay: 30 };

for (const given of sampleOf('far stories', STORIES, 3)) {
  test(`${given.name}: ends the same on the far store (SEED=${SEED})`, async () => {
    const { disk, state, procs, story, start, reflect } = farCluster(given, seeded(SEED));
    const proc = start({ weather: SLOW });
    const { model } = proc.ports;
    const lost: string[] = [];
    proc.ports.model = {
      call(request) {
        lost.push(...unwritten(state, request));
        return model.call(request);
      },
    };
    await play(proc, story, disk);
    await proc.store.flush();
    reflect();
    assert.deepEqual(outcome(disk, story), []);
    assert.equal(procs.calls.length, story.calls, 'model calls');
    assert.deepEqual(lost, [], 'answers that a kill would have lost before the next was asked for');
  });
}

/** Answers in the prompt that a kill would lose. */
function unwritten({ logs }: LedgerState, { messages }: ModelRequest): string[] {
  const answers = (all: readonly Message[]): Message[] => all.filter(({ role }) => role === 'assistant');
  const written = [...logs].flatMap(([log, lines]) =>
    log.startsWith('session/') ? answers(replay(lines.map(({ text }) => text))!.messages) : [],
  );
  const known = new Set(written.map(({ content, toolCalls }) => content + toolCalls?.[0]?.id));
  return answers(messages).flatMap(({ content, toolCalls }) =>
    known.has(content + toolCalls?.[0]?.id) ? [] : [content],
  );
}
