/** `guild pump`: one pass, then stop; what happened is told. */
import { openWorkspace } from '../app/index.js';
import { EXIT, type Command } from './command.js';
import { narrator } from './narrator.js';
import { untilInterrupt } from './interrupt.js';

export const command: Command = {
  help: `guild pump [--all]

Looks at the workspace once, does everything that can be done now, and stops.
Run it again for the next step, or use --all to go on until nothing moves any more.`,
  options: { all: { type: 'boolean', short: 'a' } },
  async run(call) {
    const tell = narrator(call);
    const workspace = await openWorkspace(call.root, { watchers: tell });
    for (const one of workspace.configProblems) call.terminal.problem(one);
    try {
      const report = await untilInterrupt(workspace, () =>
        call.values['all'] ? workspace.pumpUntilQuiet() : workspace.pump(),
      );
      const open = await workspace.openTasks();
      const count = (state: string): number => open.filter((one) => one.state === state).length;
      const left = { pending: count('pending'), active: count('active'), waiting: count('waiting') };
      if (call.json) call.terminal.json({ moved: report.moved, advanced: report.advanced, ...left });
      else {
        const words = Object.entries(left).flatMap(([state, n]) => (n > 0 ? [`${n} ${state}`] : []));
        const did = report.moved
          ? `${report.advanced} ${report.advanced === 1 ? 'task' : 'tasks'} advanced`
          : 'nothing to do';
        call.terminal.say(
          call.terminal.dim(`${did}; ${words.length > 0 ? `open: ${words.join(', ')}` : 'no open tasks'}`),
        );
      }
      return EXIT.done;
    } finally {
      await workspace.close();
    }
  },
};
