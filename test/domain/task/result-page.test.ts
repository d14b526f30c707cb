/** R19: a page that a person wrote is kept, and the program's page is written beside it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageMark, pagePlace } from '../../../src/domain/task/result-page.js';
import { place, scripted } from '../../kit/guild.js';

const OURS = '# Do it\n\ndone\n';

test('a free name, the same text and a page of ours are written; a person’s page is not', () => {
  const at = (existing: string | undefined, page?: string): string =>
    pagePlace({ id: 't', retries: 1, ...(page === undefined ? {} : { extra: { page } }) }, OURS, existing);
  const earlier = pageMark('# Do it\n\nThis task failed: no\n').page;
  assert.equal(at(undefined), 'results/t.md');
  assert.equal(at(OURS), 'results/t.md');
  assert.equal(at('My own notes\n'), 'results/t.result.md');
  assert.equal(at(''), 'results/t.result.md');
  assert.equal(at('# Do it\n\nThis task failed: no\n'), 'results/t.md', 'an earlier version wrote it');
  assert.equal(at('# Do it\n\nThis task failed: no\n', earlier), 'results/t.md', 'our own earlier end');
  assert.equal(pagePlace({ id: 't' }, OURS, '# Do it\n\nMine\n'), 'results/t.result.md', 'it never ended before');
  assert.equal(at('# Do it\n\nThis task failed: no, I say\n', earlier), 'results/t.result.md', 'a person edited it');
});

test('the store keeps a person’s page', async (t) => {
  const home = place(t, scripted('- {say: done}', { 'results/t.md': 'My own notes\n' }));
  home.put('tasks/pending/t.json', '{"description": "Do it", "to": "boss"}');
  await home.guild('pump', '--all');
  assert.equal(home.read('results/t.md'), 'My own notes\n');
  assert.match(home.read('results/t.result.md'), /done/);
});
