/** The contract of every `Effects` port. */
import assert from 'node:assert/strict';
import { type Check } from './bench.js';

export function effectsContract(check: Check): void {
  check('an effect is started once, and its outcome is visible to all', async (bench) => {
    const [first, second] = [bench.join(), bench.join()];
    assert.deepEqual(await first.effects.get('e'), { state: 'none' });
    assert.equal(await first.effects.begin('e', 'digest', 'a write'), true);
    assert.equal(await first.effects.begin('e', 'digest', 'a write'), false);
    assert.equal(await second.effects.begin('e', 'digest', 'a write'), false);
    assert.equal((await second.effects.get('e')).state, 'started');
    await first.effects.finish('e', { ok: true, text: 'written' });
    assert.deepEqual(await second.effects.get('e'), {
      state: 'done',
      digest: 'digest',
      outcome: { ok: true, text: 'written' },
    });
  });
}
