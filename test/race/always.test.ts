/** Two windows that answer “always” at once: one rule, one run of the command. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import type { Requests } from '../../src/web/base/contract.js';
import { succeeds } from '../kit/guild.js';
import { askingPlace, openWindow } from '../kit/web/window.js';

test('two windows and two workers make one rule, and the command runs once', async (t) => {
  const workspace = await askingPlace(t, 'mkdir made');
  const windows = [await openWindow(t, workspace), await openWindow(t, workspace)];
  const { open } = (await windows[0]!.get('/api/requests')).json<Requests>();
  const [request] = open;
  const replies = await Promise.all(
    windows.map((window) => window.send('request.always', request!.id, {}, request!.seen)),
  );
  assert.ok(
    replies.some(({ status }) => status === 202),
    replies.map(({ text }) => text).join(),
  );
  // One of them may find nothing left to do but wait for the other.
  await Promise.all([workspace.guild('pump', '--all'), workspace.guild('pump', '--all')]);
  succeeds(await workspace.guild('pump', '--all'));
  const rules = workspace.read('storage/terminal-cmd-allowlist.yaml').split('mkdir made').length - 1;
  assert.equal(rules, 1);
  assert.ok(fs.statSync(`${workspace.root}/made`).isDirectory());
  succeeds(await workspace.guild('check'));
  const [done] = workspace.list('tasks/completed').filter((name) => !name.includes('.call-'));
  assert.match(workspace.read(`tasks/completed/${done}`), /All done/, 'a second mkdir would have failed');
});
