/** `guild store push` dies at each commit, and is run again after the ledger forgot its answers. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ledgerState, memoryLedger, type LedgerState } from '../../src/adapters/ledger/memory.js';
import { asProblem } from '../../src/domain/problem.js';
import { pushStore } from '../../src/app/machines/push.js';
import { refuseIfPartlyPushed } from '../../src/app/machines/refusals.js';
import type { Ledger } from '../../src/ports/ledger.js';
import { tempFolder } from '../kit/temp/folder.js';
import type { TestContext } from 'node:test';

const EVENTS = 1400;

/** A folder whose push takes several commits. */
function folder(t: TestContext): string {
  const root = tempFolder('push', t);
  const put = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  for (const name of ['pending', 'waiting', 'active', 'completed', 'failed']) put(`tasks/${name}/.keep`, '');
  put('.guild/journal/.closed', '');
  put('guild.yaml', 'model: scripted/m\n');
  put(
    'tasks/pending/one.json',
    '{"id":"one","description":"Do it","to":"ana","created_at":"2026-01-02T03:04:05.000Z"}',
  );
  put('memory/note.md', 'A note.\n');
  const event = (n: number): string => `{"at":"2026-01-02T03:04:05.000Z","name":"task.created","task":"t${n}"}\n`;
  put('events/2026-01-02.jsonl', Array.from({ length: EVENTS }, (_, n) => event(n)).join(''));
  return root;
}

/** Fails at commit `at`, before it is carried out or after. */
function dying(state: LedgerState, at: number, when: 'before' | 'after'): Ledger {
  const ledger = memoryLedger(state);
  let commits = 0;
  return {
    ...ledger,
    async commit(...given) {
      const isLast = ++commits === at;
      if (isLast && when === 'before') throw new Error('died');
      const answer = await ledger.commit(...given);
      if (isLast) throw new Error('died');
      return answer;
    },
  };
}

const held = ({ entries, logs }: LedgerState): unknown => [
  [...entries].map(([key, { value, live, tag }]) => [key, value, live, tag]).sort(),
  [...logs].map(([log, lines]) => [log, lines.map(({ text, tag }) => [text, tag])]),
];

test('a push that was interrupted anywhere continues as if nothing had happened', async (t) => {
  const root = folder(t);
  const whole = ledgerState();
  const counts = await pushStore(root, memoryLedger(whole));
  assert.equal(counts.events, EVENTS);
  const commits = whole.done.size;
  assert.ok(commits >= 5, `${commits} commits`);
  for (let at = 1; at <= commits; at++) {
    for (const when of ['before', 'after'] as const) {
      const state = ledgerState();
      await assert.rejects(pushStore(root, dying(state, at, when)), /died/);
      const isWhole = at === commits && when === 'after';
      if (isWhole || (at === 1 && when === 'before')) continue;
      const refused = await refuseIfPartlyPushed(memoryLedger(state)).catch(asProblem);
      assert.match(refused?.message ?? '', /was interrupted/, `${when} commit ${at}`);
      state.done.clear(); // Answers are forgotten after two hours.
      assert.deepEqual(await pushStore(root, memoryLedger(state)), counts);
      assert.deepEqual(held(state), held(whole), `${when} commit ${at}`);
      await refuseIfPartlyPushed(memoryLedger(state));
    }
  }
});

test('push refuses a store on which a process works', async (t) => {
  const ledger = memoryLedger(ledgerState());
  const peer = { key: 'peer/p', value: '{"pid":7,"host":"gpu1"}', live: true };
  let renewals = 0;
  const renew = (): Promise<unknown> => ledger.commit(`renew-${++renewals}`, { puts: [peer], adds: [] });
  await renew();
  const list: Ledger['list'] = async (...given) => {
    const entries = await ledger.list(...given);
    await renew();
    return entries;
  };
  await assert.rejects(
    pushStore(folder(t), { ...ledger, list }),
    /a process still works on this store \(pid 7 on gpu1\)/,
  );
});
