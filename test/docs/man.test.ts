/**
 * `man guild` names every command, and contains nothing that a formatter would read as a command.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { place, ROOT, succeeds } from '../kit/guild.js';

const MACROS = new Set(['.\\"', '.TH', '.SH', '.SS', '.TP', '.PP', '.B', '.I', '.nf', '.fi']);

test('the manual page has every command and option, in the signs that every formatter knows', async (t) => {
  const { man } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { man: string };
  const page = fs.readFileSync(path.join(ROOT, man), 'utf8');
  const { commands } = JSON.parse(succeeds(await place(t).guild('help', '--json')).out) as {
    commands: { name: string; options: { name: string }[] }[];
  };
  assert.ok(commands.length > 20);
  for (const { name, options } of commands) {
    assert.ok(page.includes(`.SS "guild ${name.replaceAll('-', '\\-')}"`), name);
    for (const option of options) assert.ok(page.includes(option.name.replaceAll('-', '\\-')), option.name);
  }
  assert.match(page, /^[\x20-\x7e\n]*$/);
  const macros = page.split('\n').filter((line) => /^[.']/.test(line));
  const strange = macros.filter((line) => !MACROS.has(line.split(' ')[0]!));
  assert.deepEqual(strange, []);
});
