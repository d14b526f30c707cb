/**
 * Why a task is in its state: the chain of waits down to its last link, and the shares of its
 * budget that others hold.
 */
import { disk as realDisk } from '../../../adapters/disk/index.js';
import { roster } from '../../../adapters/roster/index.js';
import type { Env } from '../../../domain/config/env.js';
import { approvalOf } from '../../../domain/task/approval.js';
import { budgetWord } from '../../../domain/budget/budget.js';
import { whereText, type Problem } from '../../../domain/problem.js';
import { isEnded, type Placed, type Task } from '../../../domain/task/task.js';
import type { Store } from '../../../ports/store/index.js';
import { heldShares, shareText } from '../../../rules/budget/shares.js';
import { budgetNode, nodeAgent, nodeKind, nodeText } from '../../../rules/coordination/wait-node.js';
import { ASKED_AGAIN, isNotMadeHere } from '../../../views/own-words.js';
import { toText } from '../../../views/who.js';
import { HOME, type Home } from '../../far/homes.js';
import { missingKeys } from '../../live/model-key.js';
import { fitFor } from '../../../rules/staffing/offer.js';
import { readPaused } from '../../pause.js';
import { heldNow } from '../../trust/held-agents.js';
import { farPartsOf } from '../open-reader.js';
import { readConfig } from '../read-config.js';
import { holdUps, type HoldUps } from '../vote-holdups.js';
import { waitsView, type WaitsView } from '../waits-view.js';

interface Known {
  store: Store;
  paused: ReadonlyMap<string, string>;
  /** Paused tasks and the reasons. */
  stopped: ReadonlyMap<string, string>;
  held: HoldUps;
  waits: WaitsView;
  /** Agents that wait until the workspace is trusted, and why. */
  untrusted: ReadonlyMap<string, string>;
  /** Who works on a task; undefined: agents bid for it. */
  workerOf: (task: Task) => string | undefined;
  /** The key that an agent's model needs and that is not set here. */
  missingKey: (agent: string) => string | undefined;
}

interface Chain {
  lines: string[];
  /** Every node of the chain: tasks, budgets, agents, resources and the human. */
  nodes: string[];
}

/** From this task to the last one in the chain of waits. `store` has been scanned. */
export async function waitChain(root: string, env: Env, store: Store, start: Placed): Promise<Chain> {
  const { agents: paused, tasks: stopped } = await readPaused(root, store);
  const untrusted = heldNow(root, env);
  const known: Known = {
    store,
    paused,
    stopped,
    held: holdUps(root, store),
    waits: await waitsView(root, store),
    untrusted,
    ...workersNow(root, untrusted, env),
  };
  const lines: string[] = [];
  const nodes: string[] = [];
  let at: Placed | undefined = start;
  while (at !== undefined && !nodes.includes(at.task.id) && lines.length < 50) {
    nodes.push(at.task.id);
    const { next, line, via } = await reason(known, at);
    if (via !== undefined) nodes.push(via);
    lines.push((next === undefined && pausedLine(at, known)) || line);
    at = next;
  }
  if (at !== undefined && nodes.includes(at.task.id)) {
    lines.push(`${at.task.id}, and so on: they wait for each other, and the next pass breaks the deadlock`);
    nodes.push(at.task.id);
  }
  return { lines, nodes };
}

/** As for a process that would open the workspace now. */
function workersNow(root: string, held: ReadonlyMap<string, string>, env: Env): Pick<Known, 'workerOf' | 'missingKey'> {
  const disk = realDisk();
  const agents = roster(disk, root);
  agents.refresh();
  const { config } = readConfig(disk, root, env);
  return {
    missingKey: missingKeys(agents, { config, held }, env),
    workerOf(task) {
      if (task.to !== undefined) return task.to;
      const fit = fitFor(task, agents.all().values(), config.defaultAgent);
      return fit.kind === 'one' ? fit.agent : undefined;
    },
  };
}

function pausedLine({ task, state }: Placed, { paused, stopped }: Known): string | undefined {
  const kept = stopped.get(task.root);
  if (kept !== undefined) return `${task.id} is paused${kept && ` (${kept})`}; guild run -c ${task.root} continues it`;
  const why = state === 'pending' || state === 'waiting' ? paused.get(task.to ?? '') : undefined;
  if (why === undefined) return undefined;
  return `${task.id} waits: ${task.to} is paused${why && ` (${why})`}; guild agent resume ${task.to} resumes it`;
}

/**
 * One step of the chain. `via`: the node it waits for, if that is not a task; `next`: the task that
 * blocks it.
 */
interface Reason {
  line: string;
  via?: string;
  next?: Placed;
}

async function reason(known: Known, placed: Placed): Promise<Reason> {
  const { store, held, waits } = known;
  const { task, state, owner } = placed;
  const name = `${task.id} (${toText(task.to, 'nobody yet')})`;
  if (state === 'completed') return { line: `${name} is completed` };
  if (state === 'failed') return { line: `${name} failed: ${task.error?.message ?? 'without a reason'}` };
  if (state === 'active') {
    const alive = (await store.presence.peers()).some((peer) => peer.id === owner?.peer);
    const vote = alive && task.parent === undefined ? await held.vote(task) : undefined;
    if (vote !== undefined) return { line: `${name}: ${vote}` };
    return {
      line: alive
        ? `${name} is being worked on by process ${owner?.peer}`
        : `${name} lost its process; the next guild pump recovers it`,
    };
  }
  const nodes = waits.waitsOf(task.id);
  const tasks = nodes.filter((node) => nodeKind(node) === 'task');
  const open: Placed[] = [];
  for (const id of tasks) {
    const next = await store.tasks.read(id);
    const torn = next === undefined ? store.tasks.unreadable(id) : undefined;
    if (torn !== undefined) return { line: `${name} waits for ${id}, whose file cannot be read: ${inLine(torn)}` };
    if (next === undefined) return { line: `${name} waits for ${id}, which does not exist` };
    if (!isEnded(next.state)) open.push(next);
  }
  // Of several, the one that waits for the human is shown, because a person can act on it.
  const yours = open.find((placed) => leadsToYou(waits, placed.task.id)) ?? open[0];
  if (yours !== undefined) {
    const place = yours === open[0] ? 'first' : 'among them';
    return { line: `${name} waits for ${open.length > 1 ? `${open.length} tasks, ${place}` : 'a task'}:`, next: yours };
  }
  const unread = task.session === undefined ? undefined : await store.sessions.open(task.session);
  if (unread?.kind === 'held')
    return { line: `${name} waits until its conversation can be read: ${inLine(unread.problem)}` };
  if (task.waits?.until !== undefined && state === 'waiting' && !nodes.includes(budgetNode(task.id)))
    return { line: `${name} ${WAITS[task.role] ?? 'is left alone'} until ${task.waits.until}` };
  for (const via of nodes) if (nodeKind(via) !== 'task') return { via, ...(await behind(known, placed, name, via)) };
  const worker = known.workerOf(task) ?? '';
  const untrusted = known.untrusted.get(worker);
  if (untrusted !== undefined) return { line: `${name} waits, and ${worker} does not work on it yet: ${untrusted}` };
  const keeper = await keeperOf(store, task);
  if (keeper !== undefined)
    return { line: `${name} is ready; a process on ${keeper} runs it, where the secrets are that it has read` };
  const labels = task.to === undefined ? [] : waits.runsOn(task.to);
  if (labels.length > 0) return { line: `${name} is ready; ${await machineText(store, task.to!, labels)} runs it` };
  const missing = known.missingKey(worker);
  if (missing !== undefined)
    return { line: `${name} is ready, and a process that can call its model runs it; here, ${missing}` };
  return { line: `${name} is ready; guild pump or guild watch runs it` };
}

/** The machine that alone continues this task while a process lives there. */
async function keeperOf(store: Store, { written }: Task): Promise<string | undefined> {
  const host = written?.secrets_on;
  if (host === undefined || farPartsOf(store) === undefined) return undefined;
  return (await store.presence.peers()).some((peer) => peer.host === host) ? host : undefined;
}

/** The machines that may run an agent with `runs_on`. */
async function machineText(store: Store, agent: string, labels: readonly string[]): Promise<string> {
  const which = `a process on a machine with the ${labels.length === 1 ? 'label' : 'labels'} ${labels.join(', ')}`;
  const entry = await farPartsOf(store)?.ledger.get(HOME + agent);
  const host = entry === undefined || entry.value === '' ? undefined : (JSON.parse(entry.value) as Home).host;
  return host === undefined ? which : `${which} (its home is ${host})`;
}

function inLine({ where, message }: Problem): string {
  return where === undefined ? message : `${whereText(where)}: ${message}`;
}

/** True if a task on the way from here waits for the human. */
function leadsToYou(waits: WaitsView, from: string): boolean {
  const seen = new Set([from]);
  for (const node of seen) {
    if (nodeKind(node) === 'human') return true;
    for (const next of waits.waitsOf(node)) seen.add(next);
  }
  return false;
}

/** The budget, agent, resource or human that a task waits for, and the tasks that hold it. */
async function behind({ store, waits }: Known, { task }: Placed, name: string, via: string): Promise<Reason> {
  const tasks = await Promise.all(waits.waitsOf(via).map((id) => store.tasks.read(id)));
  const holders = tasks.flatMap((placed) => (placed !== undefined && !isEnded(placed.state) ? placed : []));
  const next = holders[0] === undefined ? {} : { next: holders[0] };
  switch (nodeKind(via)) {
    case 'human': {
      if (isNotMadeHere({ task })) return { line: `${name} was not made on this machine; ${ASKED_AGAIN}` };
      const asked = approvalOf(task);
      const how =
        asked === undefined
          ? ''
          : asked.request.question
            ? `: guild answer ${task.id} <text>`
            : `: guild approve ${task.id}, or guild reject ${task.id}`;
      return { line: `${name} waits for you${how}` };
    }
    case 'agent': {
      const agent = nodeAgent(via)!;
      const work = holders.map((placed) => placed.task.id).join(', ');
      return {
        line: `${name} waits for capacity: ${agent} works on ${work}, and on at most ${waits.capacity(agent)} at once:`,
        ...next,
      };
    }
    case 'budget': {
      const shares = heldShares(holders);
      const who = holders
        .map((placed) => `${placed.task.id} (${shareText(shares.get(placed.task.id) ?? {})})`)
        .join(', ');
      return {
        line: `${name} waits for its budget of ${budgetWord(task.waits!.budget!)}, which is held by ${who}:`,
        ...next,
      };
    }
    default: {
      const turn = nodeKind(via) === 'conversation' ? 'its turn in ' : '';
      return { line: `${name} waits for ${turn}${nodeText(via)}, which another task holds until it ends:`, ...next };
    }
  }
}

/** The shares of a task's budget that open children hold, one line each. */
export function sharesOf(store: Store, { task, state }: Placed): string[] {
  if (isEnded(state)) return [];
  const children = [...store.tasks.open()].filter((placed) => placed.task.parent === task.id);
  return [...heldShares(children)].map(([id, share]) => `${id} holds ${shareText(share)} of its budget until it ends`);
}

/** The reason of a timed wait, by the role of the task. */
const WAITS: Record<string, string> = {
  dependency: 'waits for offers',
  help: 'waits for an agent that is free to help',
  schedule: 'is a schedule and waits',
};
