/** `guild watch`: works until it is stopped. No model is called while nothing changes. */
import { changeText, liveConfig } from '../../app/live-config.js';
import { followTurns } from '../../app/live/follow-turns.js';
import { waitingForKeys } from '../../app/live/model-key.js';
import type { Event, PumpReport, Watchers, Workspace } from '../../app/index.js';
import { problem } from '../../domain/problem.js';
import { lineageFields } from '../../domain/task/lineage.js';
import { HUMAN } from '../../domain/task/task.js';
import { counters, metricsText, type Gauges } from '../../views/metrics.js';
import { serveMetrics } from '../../web/metrics.js';
import { EXIT, text, type Call, type Command } from '../args/command.js';
import { attend, type Attendance } from '../console/attend.js';
import { hasPerson } from '../process/ask.js';
import { isForeground } from '../process/foreground.js';
import { onInterrupt } from '../process/interrupt.js';
import { liveView } from '../render/live-view.js';
import { narrator } from '../render/narrator.js';

/** Options of every command that works until it is stopped. */
export const METRICS = {
  metrics: { type: 'string', value: 'PORT', about: 'serve /metrics on this port, or on HOST:PORT' },
} as const satisfies Command['options'];

export const command: Command = {
  usage: 'watch',
  about: `
Works until you stop it with Ctrl-C: takes tasks, continues tasks whose wait is over, and recovers tasks of lost processes.
Several guild watch processes can share one workspace.

On a terminal it draws the tree of open work and shows you requests and questions as they come up, with the keys of guild
inbox; in a pipe it prints one line for each change. Questions from before it started come first. Edits to agents, policy, tasks and
guild.yaml take effect at once. Keys of guild.yaml that need a restart (providers, plugins, sandbox, allow_outward, timeouts,
search, store, git) are named when they change.

With --metrics it serves figures for Prometheus: open tasks, calls, tokens, cost, processes. They contain no text of tasks.`,
  options: METRICS,
  maxWords: 0,
  run: (call) => host(call, undefined),
};

export async function host(call: Call, agents: string[] | undefined): Promise<number> {
  const live = call.terminal.live ? liveView(call.terminal, call.verbose) : undefined;
  const view = live ?? narrator(call);
  const shown = new Set<string>();
  const counted = counters();
  const watchers: Watchers = {
    ...view,
    event(event) {
      if (event.name === 'task.created' && event.task !== undefined) shown.add(event.task);
      counted.count(event);
      view.event?.(event);
    },
  };
  const workspace = await call.open(call.root, { watchers, agents });
  const changed = liveConfig(call.root, call.io.env, () => workspace.config);
  view.know(workspace);
  for (const each of [...workspace.configProblems, ...workspace.check().problems]) call.terminal.problem(each);
  const workers = [...workspace.agents().values()].filter(({ name }) => agents?.includes(name) ?? true);
  for (const each of waitingForKeys(workers, workspace, call.io.env)) call.terminal.problem(each, 'warning');
  const place = text(call.values, 'metrics');
  const metrics =
    place === undefined
      ? undefined
      : await serveMetrics(place, async () => metricsText(await gaugesOf(workspace), counted)).catch(
          async (thrown: unknown) => {
            await workspace.close();
            throw thrown;
          },
        );
  if (metrics !== undefined) call.terminal.say(call.terminal.dim(`metrics: ${metrics.address}`));
  const stop = new AbortController();
  let asks: Attendance | undefined;
  const leave = (): void => {
    if (stop.signal.aborted) return;
    // Releases the keyboard first, because the next Ctrl-C must reach the process.
    void asks?.close();
    view.close();
    call.terminal.say('stopping; open tasks are released (Ctrl-C again to quit at once)');
    stop.abort();
  };
  const off = onInterrupt(call.io, leave);
  greet(call, agents ?? [...workspace.agents().keys()]);
  const own = (): string => workspace.store.presence.peer.id;
  const turns = live && followTurns(call.root, call.io.env, live.elsewhere, own);
  if (live !== undefined && hasPerson(call.io) && isForeground()) asks = await attend(call, workspace, live, leave);
  let isFirst = true;
  const onPass = ({ open }: PumpReport): void => {
    view.left(open);
    if (isFirst) for (const question of earlierQuestions(workspace, shown)) view.event?.(question);
    isFirst = false;
    asks?.look();
    const edit = changed();
    if (edit?.problem !== undefined) view.problem(edit.problem, 'warning');
    else if (edit !== undefined && edit.later.length + edit.untrusted.length > 0)
      view.problem(problem('bad_file', changeText(edit), { where: { file: 'guild.yaml' } }), 'warning');
    else if (edit !== undefined) view.say(changeText(edit));
  };
  try {
    await workspace.watch(stop.signal, onPass);
    return EXIT.done;
  } finally {
    off();
    turns?.close();
    await asks?.close();
    view.close();
    await metrics?.close();
    await workspace.close();
  }
}

/** As of the last scan of this process, so that a request for figures costs nothing. */
async function gaugesOf({ store, peers, stats }: Workspace): Promise<Gauges> {
  const gauges: Gauges = { pending: 0, active: 0, waiting: 0, requests: 0, processes: 0, worstLagMs: 0 };
  for (const { task, state } of store.tasks.open()) {
    gauges[state]++;
    if (task.to === HUMAN) gauges.requests++;
  }
  return { ...gauges, processes: (await peers()).length, worstLagMs: stats().worstLagMs };
}

function greet({ terminal, root }: Call, agents: readonly string[]): void {
  const count = `${agents.length} ${agents.length === 1 ? 'agent' : 'agents'}`;
  terminal.say(terminal.dim(`watching ${root} for ${count} (Ctrl-C stops)`));
}

/** Requests for a person from before this process started, as the events that created them. */
function earlierQuestions({ store }: Workspace, shown: ReadonlySet<string>): Event[] {
  return [...store.tasks.open()].flatMap(({ task }) =>
    task.to !== HUMAN || shown.has(task.id)
      ? []
      : [
          {
            at: task.created_at,
            name: 'task.created',
            task: task.id,
            agent: HUMAN,
            ...lineageFields(task),
            earlier: true,
          },
        ],
  );
}
