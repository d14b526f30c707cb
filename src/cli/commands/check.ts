/** `guild check`: all problems at once, with file, line and caret. */
import fs from 'node:fs';
import path from 'node:path';
import { openRoster } from '../../app/readers/open-roster.js';
import { taskFileProblems } from '../../app/readers/task-files.js';
import { trustReport } from '../../app/trust/trust.js';
import { problemError } from '../../domain/problem.js';
import { isWorkspaceFolder } from '../args/find-workspace.js';
import { counted, EXIT, type Command } from '../args/command.js';
import { wrapped } from '../render/layout.js';
import { progressOn } from '../render/progress.js';

export const command: Command = {
  usage: 'check [dir]…',
  about: `
Checks guild.yaml, the policy files and every agent: missing agents and tools, cycles, contradictions, unknown keys.
Agents are read from agents/*.md, agents/*/agent.md, *.agent.yaml in agents/ and templates/, *.ai, and at any depth from
.claude/agents, .github/agents, .opencode/agent, .gemini/agents and .agents.

In a workspace it also lists task files that need you (unreadable, quarantined, or in a folder that is not scanned),
unreadable conversations of open tasks, bullets of boards that cannot become tasks, such as one with a bad schedule,
and what the workspace may not do until you trust it.

It works on any folder: outside a workspace, every Markdown file that starts like an agent of Claude Code is checked.
Warnings are harmless: the agent works. A file that does not define an agent is a problem.`,
  async run({ words, root, terminal, json, io }) {
    const folders = words.length > 0 ? words.map((word) => path.resolve(io.cwd, word)) : [root];
    const missing = folders.find((folder) => !fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory());
    if (missing !== undefined) throw problemError('not_found', `there is no folder ${missing}`);
    let badFolders = 0;
    const all = [];
    for (const folder of folders) {
      const { agents, problems, warnings, files } = openRoster(folder, io.env);
      problems.push(...(await taskFileProblems(folder, progressOn(terminal, 'indexing'))));
      if (isWorkspaceFolder(folder)) {
        const trust = trustReport(folder, io.env);
        problems.push(...trust.problems);
        warnings.push(...trust.warnings);
      }
      badFolders += problems.length;
      all.push({ folder, agents: [...agents.keys()].sort(), files, problems, warnings });
    }
    if (json) {
      terminal.json(all.length === 1 ? all[0] : all);
      return badFolders > 0 ? EXIT.problem : EXIT.done;
    }
    for (const { folder, agents, files, problems, warnings } of all) {
      for (const warning of warnings) terminal.problem(warning, 'warning');
      for (const each of problems) terminal.problem(each);
      const shown = path.relative(io.cwd, folder) || '.';
      const names = agents.length > 0 ? `: ${agents.join(', ')}` : '';
      const odd = warnings.length > 0 ? `, ${counted(warnings.length, 'warning')}` : '';
      const verdict =
        problems.length > 0
          ? terminal.colour('red', counted(problems.length, 'problem'))
          : files === 0
            ? terminal.colour('yellow', 'nothing to check')
            : terminal.colour('green', 'good');
      const counts = `${counted(agents.length, 'agent')} in ${counted(files, 'file')}`;
      for (const line of wrapped(`${shown}: ${verdict}${odd}, ${counts}${names}`, terminal.width)) terminal.out(line);
    }
    return badFolders > 0 ? EXIT.problem : EXIT.done;
  },
};
