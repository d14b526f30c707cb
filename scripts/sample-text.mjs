/**
 * `npm run sample-text -- --seed 4711`: texts of the program for a reader who did not write them:
 * sixty comments and thirty messages drawn by the seed, then every help text and every prompt.
 *   --seed N       the same number draws the same sample (default: a new one, which is printed)
 *   --comments N   how many comments (default 60)
 *   --messages N   how many messages (default 30)
 *   --only PARTS   comments, messages, help, prompts, separated by commas (default: all)
 */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT, setup } from './setup.mjs';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    comments: { type: 'string', default: '60' },
    messages: { type: 'string', default: '30' },
    only: { type: 'string', default: 'comments,messages,help,prompts' },
  },
});

setup({ build: true });
const { withSources } = await import('../dist/test/kit/source/parse.js');
const { commentTexts, messageTexts } = await import('../dist/test/kit/source/texts.js');
const { seeded } = await import('../dist/test/kit/sim-processes.js');

const BIN = path.join(ROOT, 'bin', 'guild.mjs');
const FOLDERS = ['src', 'web', 'test', 'bench', 'scripts'];
const next = seeded(Number(values.seed));
const print = (text) => process.stdout.write(`${text}\n`);

print(`seed ${values.seed}`);
const parts = values.only.split(',');
if (parts.includes('comments')) sample('comments', Number(values.comments), FOLDERS, commentTexts);
if (parts.includes('messages')) sample('messages', Number(values.messages), ['src'], messageTexts);
if (parts.includes('help'))
  for (const { name, help } of JSON.parse(guild(ROOT, 'help', '--json')).commands)
    print(`\n=== guild ${name}\n${help}`);
if (parts.includes('prompts')) for (const options of [[], ['--swarm']]) prompts(options);

/** Prints `count` of the texts in these folders, in the order of the files. */
function sample(title, count, folders, textsIn) {
  const all = withSources(ROOT, folders, (sources) => sources.flatMap((source) => textsIn(source)));
  const drawn = new Set();
  while (drawn.size < Math.min(count, all.length)) drawn.add(Math.floor(next() * all.length));
  print(`\n=== ${drawn.size} of ${all.length} ${title}`);
  for (const at of [...drawn].sort((a, b) => a - b)) print(`${all[at].file}:${all[at].line}: ${all[at].text}`);
}

/** The prompt of every agent of a new workspace, as a model would get it. */
function prompts(options) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-sample-'));
  const team = path.join(folder, 'team');
  process.env.GUILD_STATE = path.join(folder, 'state');
  try {
    guild(folder, 'init', team, ...options);
    const files = fs.readdirSync(path.join(team, 'agents')).filter((name) => name.endsWith('.md'));
    for (const agent of files.map((name) => name.slice(0, -'.md'.length)))
      print(`\n=== guild prompt ${agent}\n${guild(team, 'prompt', agent)}`);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function guild(cwd, ...words) {
  return execFileSync(process.execPath, [BIN, ...words], { cwd, encoding: 'utf8' });
}
