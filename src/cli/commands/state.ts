/** `guild state`: what each agent does now, and its changes of state from the `state` channel. */
import { openShown } from '../../app/approvals.js';
import { openStates, type Snapshot, type StatesView } from '../../app/readers/open-states.js';
import type { AgentState } from '../../domain/agent/agent-state.js';
import type { Note } from '../../domain/coordination/note.js';
import { problem, problemError } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import { ASKED_AGAIN, isNotMadeHere } from '../../views/own-words.js';
import { localDateTime } from '../../views/local-time.js';
import { counted, EXIT, integerOption, type Call, type Command } from '../args/command.js';
import { interrupted } from '../process/interrupt.js';
import { tableRows } from '../render/layout.js';
import type { Terminal } from '../render/terminal.js';

export const command: Command = {
  usage: [
    ['state', 'show what each agent does, the running processes, and what waits for you'],
    ['state --history [agent]', 'list every change of state, oldest first'],
    ['state --watch [agent]', 'print every change of state until Ctrl-C'],
  ],
  about: `
  idle      has not had work yet
  working   works, or could continue
  blocked   its work waits for others, or for you
  waiting   has finished its part and is free to help
  complete  everything it took part in has ended
  error     its last task failed, or its file cannot be read
  paused    you paused it with guild agent pause`,
  options: {
    history: { type: 'boolean', about: 'list every change of state' },
    watch: { type: 'boolean', about: 'print every change of state as it happens' },
    limit: { type: 'string', value: 'N', about: '--history: only the last N changes (default 50)' },
  },
  maxWords: 1,
  async run(call) {
    const { values, words, root } = call;
    const agent = words[0];
    if (agent !== undefined && !values['history'] && !values['watch'])
      throw problemError('bad_usage', `guild state takes no agent without --history or --watch`, {
        hint: `guild state --history ${agent}`,
      });
    const limit = integerOption(values, 'limit', [1, Infinity]);
    if (limit !== undefined && !values['history']) throw problemError('bad_usage', '--limit needs --history');
    const view = openStates(root, call.io.env, openShown(root, call.io.env));
    if (values['watch']) return watch(call, view, agent);
    return values['history'] ? history(call, view, agent, limit) : now(call, await view.look());
  },
};

function now({ terminal, json }: Call, { agents, open, forHuman, peers, problems }: Snapshot): number {
  if (json) {
    const waiting = forHuman.map(({ task }) => task.id);
    terminal.json({ agents, processes: peers, open: open.length, waiting_for_you: waiting, problems });
    return EXIT.done;
  }
  const rows = agents.map((entry) => [
    terminal.bold(entry.agent),
    stateMark(entry.state, terminal),
    entry.tasks.join(', '),
    // The other lines of a problem are for `guild why`.
    entry.why.split('\n', 1)[0]!,
  ]);
  for (const [hint, yours] of [
    ['guild inbox shows it', forHuman.filter((each) => !isNotMadeHere(each))],
    [`not made on this machine: ${ASKED_AGAIN}`, forHuman.filter(isNotMadeHere)],
  ] as const)
    if (yours.length > 0)
      rows.push([
        terminal.bold('you'),
        terminal.colour('magenta', 'asked'),
        yours.map(({ task }) => task.id).join(', '),
        hint,
      ]);
  for (const line of tableRows(rows, terminal.width, [0, 1, 2, 3]).flat()) terminal.out(line);
  for (const each of problems) terminal.problem(each);
  const isSpread = new Set(peers.map(({ host }) => host)).size > 1;
  const named = peers.map(({ pid, host }) => (isSpread ? `pid ${pid} on ${host}` : `pid ${pid}`));
  peers.forEach(({ held }, at) => {
    if (held !== undefined) terminal.problem(problem('store_refused', `${named[at]!} takes no work: ${held}`));
  });
  const running = named.length === 0 ? 'no process is running' : `running: ${named.join(', ')}`;
  terminal.say(terminal.dim(`${countsOf(open)}; ${running}`));
  return EXIT.done;
}

/** `3 open tasks; 1 schedule, next 2026-11-23 09:00:00 +01:00` */
function countsOf(open: Snapshot['open']): string {
  const schedules = open.filter(({ task }) => roleFacts(task.role).isSchedule);
  const tasks = counted(open.length - schedules.length, 'open task');
  const next = schedules
    .map(({ task }) => task.waits?.until ?? '')
    .sort()
    .find(Boolean);
  if (schedules.length === 0) return tasks;
  return `${tasks}; ${counted(schedules.length, 'schedule')}${next === undefined ? '' : `, next ${localDateTime(next)}`}`;
}

function history({ terminal, json }: Call, view: StatesView, agent: string | undefined, maxEntries?: number): number {
  const limit = maxEntries ?? (json ? Infinity : 50);
  const all = view.history(agent);
  const shown = limit === Infinity ? all : all.slice(-limit);
  if (json) terminal.json(shown.map(fields));
  else
    for (const line of tableRows(
      shown.map((note) => row(note, terminal)),
      terminal.width,
      [0, 1, 2, 3],
    ).flat())
      terminal.out(line);
  if (!json && all.length > shown.length)
    terminal.say(terminal.dim(`… and ${all.length - shown.length} before (--limit)`));
  if (!json && all.length === 0) terminal.say(terminal.dim('no changes yet'));
  return EXIT.done;
}

async function watch({ terminal, json, io }: Call, view: StatesView, agent: string | undefined): Promise<number> {
  const seen = new Set(view.history().map(({ id }) => id));
  const stop = view.follow((note) => {
    if (note.body.type !== 'state_change' || seen.has(note.id)) return;
    seen.add(note.id);
    if (agent !== undefined && note.body.agent !== agent) return;
    if (json) terminal.json(fields(note));
    else for (const line of tableRows([row(note, terminal)], terminal.width, [0, 1, 2, 3]).flat()) terminal.out(line);
  });
  terminal.say(terminal.dim('every change from now on (Ctrl-C stops)'));
  const alive = setInterval(() => undefined, 60_000);
  await interrupted(io);
  clearInterval(alive);
  stop();
  return EXIT.done;
}

function row({ at, body }: Note, terminal: Terminal): string[] {
  if (body.type !== 'state_change') return [];
  const { agent, fromState, toState, reason, trigger } = body;
  const why = [trigger, reason].filter(Boolean).join(': ');
  return [terminal.dim(localDateTime(at)), terminal.bold(agent), `${fromState} → ${stateMark(toState, terminal)}`, why];
}

function fields({ at, task, body }: Note): object {
  const { type: _, ...rest } = body as Note['body'] & { type: 'state_change' };
  return { at, task, ...rest };
}

export function stateMark(state: AgentState, terminal: Terminal): string {
  const colours = { working: 'yellow', waiting: 'cyan', blocked: 'magenta', complete: 'green', error: 'red' } as const;
  return state === 'idle' || state === 'paused' ? terminal.dim(state) : terminal.colour(colours[state], state);
}
