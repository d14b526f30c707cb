/** `guild init`: creates a workspace. It never overwrites a file. */
import path from 'node:path';
import { exampleNames, initWorkspace } from '../../app/starter.js';
import { acceptTrust, lookAtTrust } from '../../app/trust/trust.js';
import type { Env } from '../../domain/config/env.js';
import { nearestHint } from '../../domain/nearest.js';
import { problemError } from '../../domain/problem.js';
import { EXIT, newFolder, text, type Command } from '../args/command.js';
import { findRoot, isWorkspaceFolder } from '../args/find-workspace.js';

export const command: Command = {
  usage: 'init [dir]',
  about: `
Creates a workspace in dir (default: the current folder): agents to keep or change, a commented guild.yaml and a README.
Existing files are not changed. In a Git repository nothing is committed; the lines that keep run state out of your commits
are shown, and --ignore adds them to .gitignore.`,
  options: {
    swarm: {
      type: 'boolean',
      about: 'agents that bid for tasks (search, file, terminal, breakdown, maker), without an orchestrator',
    },
    example: { type: 'string', value: 'NAME', about: 'start from an example, such as office; its README explains it' },
    ignore: { type: 'boolean', about: 'in a Git repository: add run state to .gitignore' },
  },
  maxWords: 1,
  async run({ words, values, terminal, json, io }) {
    const folder = path.resolve(io.cwd, newFolder(values, words[0], 'the folder') ?? '.');
    refuseInside(folder, io.env);
    const swarm = values['swarm'] === true;
    const example = exampleNamed(text(values, 'example'), swarm);
    const { created, kept, hadSettings, toIgnore } = initWorkspace(folder, {
      swarm,
      example,
      ignore: values['ignore'] === true,
    });
    // Files that were here before were not made by this program, so they are not trusted unseen.
    if (!hadSettings) acceptTrust(folder, io.env);
    if (json) terminal.json({ workspace: folder, created, kept, toIgnore });
    // An existing README is not ours.
    const readme = created.includes('README.md') ? ' README.md explains more.' : '';
    const shown = path.relative(io.cwd, folder) || '.';
    for (const file of created) terminal.say(`  ${terminal.colour('green', '+')} ${file}`);
    for (const file of kept) terminal.say(terminal.dim(`  = ${file} (kept)`));
    if (toIgnore.length > 0) {
      terminal.say(`\nThis is in a Git repository. Guildhall commits nothing to it: its history is in .guild/.`);
      terminal.say(
        `To keep run state out of your own commits, add this to .gitignore (guild init --ignore does it):\n`,
      );
      for (const line of toIgnore) terminal.say(terminal.dim(`  ${line}`));
    }
    // A workspace without a setting that can act counts as trusted, too; new files may change that.
    if (hadSettings && (created.length > 0 || lookAtTrust(folder, io.env).state !== 'trusted'))
      terminal.say(`\nThe folder had settings before. guild trust shows which of them can act, and asks.`);
    terminal.say(`\nThe workspace is ready. Next:\n`);
    if (shown !== '.') terminal.say(`  cd ${shown}`);
    if (example !== undefined) {
      terminal.say('  cat README.md');
      return EXIT.done;
    }
    terminal.say(
      swarm
        ? `  guild task add "Describe this folder and what it still needs"\n  guild watch`
        : `  guild run orchestrator "What is in this folder, and what does it still need?"`,
    );
    terminal.say(
      terminal.dim(
        `\nAgents need a model: export OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or set a model in guild.yaml.${readme}`,
      ),
    );
    return EXIT.done;
  },
};

/** The folders of a workspace belong to it: a second one inside would mix their tasks. */
function refuseInside(folder: string, env: Env): void {
  const { GUILD_WORKSPACE: _, ...rest } = env;
  const outer = findRoot(undefined, { cwd: path.dirname(folder), env: rest });
  const [first = ''] = path.relative(outer, folder).split(path.sep);
  if (!OWN_FOLDERS.has(first) || !isWorkspaceFolder(outer)) return;
  throw problemError('bad_usage', `${first}/ belongs to the workspace ${outer}`, {
    hint: 'create the new workspace in a folder outside of it',
  });
}

const OWN_FOLDERS = new Set('agents tasks sessions results storage events inbox bus .guild'.split(' '));

function exampleNamed(name: string | undefined, swarm: boolean): string | undefined {
  if (name === undefined) return undefined;
  const names = exampleNames();
  if (swarm) throw problemError('bad_usage', '--swarm and --example exclude each other');
  if (names.includes(name)) return name;
  throw problemError('bad_usage', `there is no example ${JSON.stringify(name)}`, {
    hint: nearestHint(name, names, `the examples are: ${names.join(', ')}`)!,
  });
}
