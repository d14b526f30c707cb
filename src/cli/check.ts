/** `guild check`: everything that is wrong, at once, with file, line and caret. */
import path from 'node:path';
import { openRoster } from '../app/open-roster.js';
import { EXIT, type Command } from './command.js';

export const command: Command = {
  help: `guild check [dir…]

Reads guild.yaml and every agent (agents/*.md, agents/*/agent.md, *.agent.yaml in agents/ and templates/, .claude/agents/*.md,
*.ai) and tells everything that is wrong with them: missing agents and tools, cycles, contradictions, unknown keys.
Works on any folder, workspace or not. Warnings are odd but harmless.`,
  async run({ words, root, terminal, json }) {
    const folders = words.length > 0 ? words.map((word) => path.resolve(word)) : [root];
    let wrong = 0;
    const all = folders.map((folder) => {
      const { agents, problems, warnings, files } = openRoster(folder);
      wrong += problems.length;
      return { folder, agents: [...agents.keys()].sort(), files, problems, warnings };
    });
    if (json) {
      terminal.json(all.length === 1 ? all[0] : all);
      return wrong > 0 ? EXIT.problem : EXIT.done;
    }
    for (const { folder, agents, files, problems, warnings } of all) {
      for (const one of warnings) terminal.problem(one, 'warning');
      for (const one of problems) terminal.problem(one);
      const shown = path.relative(process.cwd(), folder) || '.';
      const names = agents.length > 0 ? `: ${agents.join(', ')}` : '';
      const verdict =
        problems.length > 0 ? terminal.colour('red', `${problems.length} problems`) : terminal.colour('green', 'good');
      terminal.out(`${shown}: ${verdict}, ${agents.length} agents in ${files} files${names}`);
    }
    return wrong > 0 ? EXIT.problem : EXIT.done;
  },
};
