/** `guild init`: a workspace with agents that are good enough to keep. Never overwrites a file. */
import path from 'node:path';
import { initWorkspace } from '../app/init-workspace.js';
import { EXIT, type Command } from './command.js';

export const command: Command = {
  help: `guild init [dir]

Makes a workspace in dir (default: here) with five agents, a commented guild.yaml and a README.
Files that are there already stay as they are.`,
  async run({ words, terminal, json }) {
    const folder = path.resolve(words[0] ?? '.');
    const { created, kept } = initWorkspace(folder);
    if (json) terminal.json({ workspace: folder, created, kept });
    const shown = path.relative(process.cwd(), folder) || '.';
    for (const file of created) terminal.say(`  ${terminal.colour('green', '+')} ${file}`);
    for (const file of kept) terminal.say(terminal.dim(`  = ${file} (kept)`));
    terminal.say(`\nThe workspace is ready. Next:\n`);
    if (shown !== '.') terminal.say(`  cd ${shown}`);
    terminal.say(`  guild run planner "What should we do first?"`);
    terminal.say(
      terminal.dim(`\nThe model is set in guild.yaml; its key comes from the environment. README.md tells the rest.`),
    );
    return EXIT.done;
  },
};
