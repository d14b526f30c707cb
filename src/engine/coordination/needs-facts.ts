/** What the rules of dependencies and help must know of the world: who could provide, who has a resource, what the human said. */
import type { Agent } from '../../domain/agent/agent.js';
import type { AgentState } from '../../domain/agent/agent-state.js';
import type { ApprovalRequest } from '../../domain/task/approval.js';
import type { Dependency } from '../../domain/coordination/dependency.js';
import type { Help } from '../../domain/coordination/help.js';
import { childId } from '../../domain/task/id.js';
import { HUMAN, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import type { Bystander, HelpGiven, Volunteer } from '../../rules/coordination/help.js';
import { volunteers } from '../../rules/coordination/help.js';
import type { NeedFacts } from '../../rules/coordination/needs.js';
import { byAgent } from '../../rules/coordination/agent-states.js';
import { provision } from '../../rules/coordination/providers.js';
import { resourceKey } from '../../rules/coordination/wait-node.js';
import { approvalFor, verdictOn } from '../approvals/approvals.js';
import { candidatesFor, others } from './candidates.js';
import { room, type Room } from '../core/capacity.js';
import { underWay } from '../core/ready-queue.js';
import { offeredFor, toldStates } from './mesh.js';
import type { Parts } from '../core/context.js';

type Known = ReadonlyMap<string, Placed | undefined>;

export async function needFacts(
  parts: Parts,
  task: Task,
  dependency: Dependency,
  asker: Task,
  children: Known,
): Promise<NeedFacts> {
  switch (dependency.type) {
    case 'resource': {
      const key = resourceKey(dependency.resource!);
      if (await parts.store.keepTurn(key, asker.id)) return { held: true };
      const holder = await parts.store.turnOf(key);
      return { held: false, ...(holder === undefined ? {} : { holder }) };
    }
    case 'sequence':
      return { after: await parts.store.read(dependency.after!) };
    case 'approval':
      return dependency.reviewer === undefined
        ? { human: question(parts, task, asker, children, 'approve_need', { need: dependency.need }) }
        : {};
    default:
      return provision(task, children).kind === 'none' ? providerFacts(parts, task, dependency, children) : {};
  }
}

async function providerFacts(parts: Parts, task: Task, dependency: Dependency, children: Known): Promise<NeedFacts> {
  const { mode, coordinator } = parts.config.coordination;
  const free = await room(parts);
  const candidates = candidatesFor(parts, task, dependency, free);
  if (mode === 'mesh') {
    const offered = candidates.length === 0 ? undefined : offeredFor(parts, task, candidates, children, free);
    return { candidates, ...(offered ? { offered } : {}) };
  }
  const asks =
    coordinator !== undefined &&
    coordinator !== task.from &&
    parts.agents.all().has(coordinator) &&
    free.isHosted(coordinator);
  const here = candidates.filter(({ agent }) => free.isHosted(agent));
  return { candidates: here.length > 0 ? here : candidates, ...(asks ? { coordinator } : {}) };
}

export async function helpFacts(
  parts: Parts,
  task: Task,
  help: Help,
  asker: Task,
  children: Known,
): Promise<HelpGiven> {
  const { coordinator, helpMs } = parts.config.coordination;
  const from = Date.parse(task.claimed_at ?? task.created_at);
  const deadline = help.deadline ?? new Date(from + helpMs).toISOString();
  const asks = coordinator !== undefined && parts.agents.all().has(coordinator);
  return {
    task,
    help,
    children,
    deadline,
    volunteers: volunteersFor(parts, task, help, bystanders(parts, await room(parts))),
    ...(asks ? { coordinator } : {}),
    human: question(parts, task, asker, children, 'give_help', { answer: BLANK, question: help.context }),
    now: parts.clock.now().toISOString(),
  };
}

const BLANK = '(write your answer here)';

export type Bystanders = (agent: Agent) => Bystander | undefined;

/** Who could help now. */
export function volunteersFor(parts: Parts, task: Task, help: Help, around: Bystanders): Volunteer[] {
  const all = others(parts, task).flatMap((agent) => around(agent) ?? []);
  return volunteers(help, task.from ?? '', all);
}

/**
 * What each agent does: read off the tree, and whether it ever had work, off what was told of it. Undefined for whom nobody works. Good for one
 * look; nothing is counted before somebody asks.
 */
export function bystanders(parts: Parts, free: Room): Bystanders {
  let seen: { begun: ReturnType<typeof byAgent>['begun']; told: ReadonlyMap<string, AgentState> } | undefined;
  return (agent) => {
    if (!free.isHosted(agent.name)) return undefined;
    seen ??= { begun: byAgent(underWay(parts)).begun, told: toldStates(parts) };
    const isBusy = (seen.begun.get(agent.name) ?? []).length > 0;
    return { agent, state: isBusy ? 'working' : atRest(seen.told.get(agent.name)), busy: free.load(agent.name) };
  };
}

/** What is told lags behind: whoever has nothing in hand any more waits. */
function atRest(told: AgentState = 'idle'): AgentState {
  return told === 'working' || told === 'blocked' ? 'waiting' : told;
}

/** What is put to the human, on the ballot as other approvals are, and what was said to it. */
function question(
  parts: Parts,
  task: Task,
  asker: Task,
  children: Known,
  tool: string,
  args: Record<string, unknown>,
): NonNullable<NeedFacts['human']> {
  const name = asker.to ?? 'nobody';
  const agent = parts.agents.all().get(name) ?? ({ name, session: 'per_task' } as Agent);
  const isHelp = tool === 'give_help';
  const reason = isHelp ? `${name} asked for help, and nobody gave it` : `${name} wants your word before it goes on`;
  const wanted = approvalFor(
    parts,
    asker,
    agent,
    { id: task.id, name: tool, arguments: args },
    {
      verdict: 'ask',
      reasons: [reason],
      risk: 'LOW',
    },
  );
  const request: ApprovalRequest = {
    ...(wanted.context!['request'] as ApprovalRequest),
    confinement: 'nothing is done by this: the asker is told what you say',
  };
  const child: WantedChild = {
    ...wanted,
    id: childId(task.id, 'approval'),
    to: HUMAN,
    description: isHelp
      ? `Help ${name}: ${firstLine(String(args['question']))}`
      : `Approve for ${name}: ${firstLine(String(args['need']))}`,
    context: { request },
  };
  return { child, said: verdictOn(children.get(child.id), child) };
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]!.slice(0, 100);
}
