/** Every live display describes the work of an agent in the same words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activity, doingText, type Activity } from '../../../src/cli/render/activity.js';
import { freshTurn } from '../../../src/domain/live-turn.js';

const AT = '2026-05-04T10:00:00.000Z';
const WORK = { task: 'a', root: 'a', agent: 'ana' };

const GOES_ON: [string, (shown: Activity) => void][] = [
  ['here, taken again', (shown) => shown.event({ at: AT, name: 'task.claimed', task: 'a', agent: 'ana' })],
  ['here, with another call', (shown) => shown.progress({ ...WORK, kind: 'thinking' })],
  ['in another process', (shown) => shown.turn(freshTurn(WORK, AT))],
];

for (const [where, goOn] of GOES_ON) {
  test(`a failed call is named until the work goes on ${where}`, () => {
    const shown = activity(() => 'hello');
    const doing = (): string => doingText(shown.get('a')!);
    shown.event({ at: AT, name: 'task.claimed', task: 'a', agent: 'ana' });
    shown.event({ at: AT, name: 'model.failed', task: 'a', message: 'the call was aborted' });
    assert.equal(doing(), 'the call was aborted');
    goOn(shown);
    assert.equal(doing(), 'thinking');
  });
}
