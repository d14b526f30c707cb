/** `guild pump`: one pass, then stop. */
import type { PumpReport } from '../../app/index.js';
import { waitingForKeys } from '../../app/live/model-key.js';
import { isEnded, isForHuman } from '../../domain/task/task.js';
import { EXIT, type Command } from '../args/command.js';
import { narrator } from '../render/narrator.js';
import { untilInterrupt } from '../process/interrupt.js';

export const command: Command = {
  usage: 'pump',
  about: 'Runs one pass: does everything that can be done now, then stops. Run it again for the next step.',
  options: {
    all: {
      type: 'boolean',
      short: 'a',
      about: 'repeat until nothing changes; the exit code is 4 if something then waits for you',
    },
  },
  maxWords: 0,
  async run(call) {
    const narration = narrator(call);
    const workspace = await call.open(call.root, { watchers: narration });
    narration.know(workspace);
    for (const problem of [...workspace.configProblems, ...workspace.check().problems]) call.terminal.problem(problem);
    const workers = workspace.agents().values();
    for (const each of waitingForKeys(workers, workspace, call.io.env)) call.terminal.problem(each, 'warning');
    try {
      let advanced = 0;
      let moved = false;
      const count = (report: PumpReport): void => {
        advanced += report.advanced;
        moved ||= report.moved;
        narration.left(report.open);
      };
      await untilInterrupt(call.io, workspace, async (signal) =>
        call.values['all'] ? workspace.pumpUntilQuiet(count, signal) : count(await workspace.pump()),
      ).finally(() => narration.close());
      const open = await workspace.openTasks();
      const left = { pending: 0, active: 0, waiting: 0 };
      for (const placed of open) if (!isEnded(placed.state)) left[placed.state]++;
      const yours = open.filter(({ task }) => isForHuman(task)).map(({ task }) => task.id);
      if (call.json) call.terminal.json({ moved, advanced, ...left, waiting_for_you: yours });
      else {
        const words = Object.entries(left).flatMap(([state, n]) => (n > 0 ? [`${n} ${state}`] : []));
        const steps = call.values['all'] ? 'step' : 'task';
        const did = moved ? `${advanced} ${steps}${advanced === 1 ? '' : 's'} advanced` : 'nothing to do';
        call.terminal.say(
          call.terminal.dim(`${did}; ${words.length > 0 ? `open: ${words.join(', ')}` : 'no open tasks'}`),
        );
        if (yours.length > 0)
          call.terminal.say(
            `${call.terminal.colour('yellow', `${yours.length} of them ${yours.length === 1 ? 'waits' : 'wait'} for you`)}: guild inbox`,
          );
      }
      return call.values['all'] && yours.length > 0 ? EXIT.waiting : EXIT.done;
    } finally {
      await workspace.close();
    }
  },
};
