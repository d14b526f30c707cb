/** `guild state`: who does what and who waits for whom, read off the tree. */
import { openReader } from '../app/open-reader.js';
import { openRoster } from '../app/open-roster.js';
import { agentStates } from '../rules/peers.js';
import { EXIT, type Command } from './command.js';
import { table } from './terminal.js';

export const command: Command = {
  help: `guild state

Each agent and what it is doing (idle, working, waiting, blocked), the processes that run, and what waits for you.`,
  most: 0,
  async run({ root, terminal, json }) {
    const store = openReader(root);
    const { problems } = await store.scan(true);
    const open = [...store.open()];
    const peers = store.peers();
    const alive = (id: string): boolean => peers.some((peer) => peer.id === id);
    const states = agentStates([...openRoster(root).agents.keys()], open, alive);
    if (json) {
      terminal.json({ agents: states, processes: peers, open: open.length, problems });
      return EXIT.done;
    }
    const colours = { idle: 'cyan', working: 'yellow', waiting: 'magenta', blocked: 'red' } as const;
    const rows = states.map((one) => [
      terminal.bold(one.agent),
      terminal.colour(colours[one.state], one.state),
      one.tasks.join(', '),
      one.why,
    ]);
    for (const line of table(rows, terminal.width)) terminal.out(line);
    for (const one of problems) terminal.problem(one);
    const running =
      peers.length === 0 ? 'no process is running' : `running: ${peers.map((peer) => `pid ${peer.pid}`).join(', ')}`;
    terminal.say(terminal.dim(`${open.length} open tasks; ${running}`));
    return EXIT.done;
  },
};
