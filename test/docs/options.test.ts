/** The documents show only options that exist. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const EVERYWHERE = ['--workspace', '--json', '--quiet', '--help'];

interface Help {
  commands: { name: string; options: { name: string }[] }[];
}

test('every option that the documents show exists', () => {
  const printed = execFileSync(process.execPath, ['bin/guild.mjs', '--help', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const { commands } = JSON.parse(printed) as Help;
  const options = new Map(commands.map(({ name, options: list }) => [name, list.map((option) => option.name)]));
  const mistakes: string[] = [];
  for (const file of ['README.md', ...markdown('docs'), ...markdown('examples'), ...markdown('starter')]) {
    for (const [line, command, rest] of commandLines(fs.readFileSync(path.join(ROOT, file), 'utf8'))) {
      if (command === 'record') continue; // The options belong to the recorded command.
      const known = [...(options.get(command) ?? []), ...EVERYWHERE];
      for (const [option] of rest.matchAll(/(?<=\s)--[a-z-]+/g))
        if (!known.includes(option)) mistakes.push(`${file}: ${option} in ${line.trim()}`);
    }
  }
  assert.deepEqual(mistakes, []);
});

/**
 * Lines of code that call `guild`, with quoted arguments and comments removed: the line, the
 * command and the rest.
 */
function commandLines(document: string): [string, string, string][] {
  const code = [...document.matchAll(/```[\s\S]*?```|`[^`\n]+`/g)].map((match) => match[0]).join('\n');
  const calls = [...code.matchAll(/(?<![\w-])guild ([a-z][a-z-]*)([^\n`]*)/g)];
  return calls.map(([line, command, rest]) => {
    const plain = rest!.replace(/"[^"]*"|'[^']*'/g, '').replace(/(?:\s#|[;|&]).*$/, '');
    return [line, command!, plain];
  });
}

function markdown(folder: string): string[] {
  const files = fs.readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.md')).map((file) => `${folder}/${file}`);
}
