/** Help texts fit the terminal and break only between words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS, GROUPS } from '../../src/cli/commands.js';
import { columnsOf } from '../../src/cli/render/columns.js';
import { commandHelp, paragraphs, twoColumns } from '../../src/cli/help.js';
import { onTerminal, place, succeeds } from '../kit/guild.js';

const words = (lines: readonly string[]): string[] => lines.join(' ').trim().split(/\s+/);

test('every help text fits 80 and 40 columns without breaking a word', async () => {
  for (const { name, load } of COMMANDS) {
    const { command } = await load();
    const wide = words(commandHelp(command, 1000));
    for (const width of [80, 40]) {
      const lines = commandHelp(command, width);
      // A word that is wider than the window gets its own line.
      const long = lines.filter((line) => columnsOf(line) > width && line.trim().includes(' '));
      assert.deepEqual(long, [], `${name} at ${width}`);
      assert.deepEqual(words(lines), wide, `${name} at ${width}`);
    }
  }
});

test('summaries fit one line of 80 columns', () => {
  const rows = COMMANDS.map(({ name, summary }): [string, string] => [name, summary]);
  assert.equal(twoColumns(rows, 80).length, COMMANDS.length);
});

test('guild alone lists every command once, in groups whose summaries line up', async (t) => {
  const { out } = await place(t).guild('--help');
  const lines = out.split('\n');
  const rows = COMMANDS.map(({ name, summary }) =>
    lines.filter((line) => line.startsWith(`  ${name} `) && line.endsWith(summary)),
  );
  assert.deepEqual(
    COMMANDS.filter((_, index) => rows[index]!.length !== 1).map(({ name }) => name),
    [],
  );
  const columns = new Set(COMMANDS.map(({ summary }, index) => rows[index]![0]!.indexOf(summary)));
  assert.equal(columns.size, 1);
  for (const { title } of GROUPS) assert.ok(lines.includes(`${title}:`), title);
});

test('descriptions hang under their column, and go below the name in a narrow window', () => {
  const rows: [string, string][] = [
    ['--id ID', 'id of the task'],
    ['--model NAME', 'model or alias for all agents of this run'],
  ];
  assert.deepEqual(twoColumns(rows, 40), [
    '  --id ID       id of the task',
    '  --model NAME  model or alias for all',
    '                agents of this run',
  ]);
  assert.deepEqual(twoColumns(rows, 24), [
    '  --id ID',
    '      id of the task',
    '  --model NAME',
    '      model or alias for',
    '      all agents of this',
    '      run',
  ]);
});

test('paragraphs are filled, examples keep their lines', () => {
  assert.deepEqual(paragraphs('\n  guild c\n\nOne\ntwo three.\n\n  guild a\n  guild b\n\nEnd.', 40), [
    '  guild c',
    '',
    'One two three.',
    '',
    '  guild a',
    '  guild b',
    '',
    'End.',
  ]);
});

test('help follows the width of the terminal', async (t) => {
  const { guild, guildWith } = place(t);
  const widest = (out: string): number => Math.max(...out.split('\n').map(columnsOf));
  for (const command of ['--help', 'watch --help', 'help demo'])
    for (const width of [40, 60, 80])
      assert.ok(widest(succeeds(await guildWith(onTerminal(width), ...command.split(' '))).out) <= width, command);
  assert.ok(widest(succeeds(await guild('watch', '--help')).out) <= 80, 'in a pipe');
  assert.ok(widest(succeeds(await guildWith(onTerminal(200), 'watch', '--help')).out) <= 100, 'never too long to read');
});
