/** What every `Effects` port promises. */
import assert from 'node:assert/strict';
import { type Check } from './bench.js';

export function effectsContract(check: Check): void {
  check('an effect is started once, and its outcome is visible to all', async (bench) => {
    const [one, two] = [bench.join(), bench.join()];
    assert.deepEqual(await one.effects.get('e'), { state: 'none' });
    assert.equal(await one.effects.begin('e', 'digest', 'a write'), true);
    assert.equal(await one.effects.begin('e', 'digest', 'a write'), false);
    assert.equal(await two.effects.begin('e', 'digest', 'a write'), false);
    assert.equal((await two.effects.get('e')).state, 'started');
    await one.effects.finish('e', { ok: true, text: 'written' });
    assert.deepEqual(await two.effects.get('e'), {
      state: 'done',
      digest: 'digest',
      outcome: { ok: true, text: 'written' },
    });
  });
}
