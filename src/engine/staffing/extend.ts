/**
 * Adds an agent to the workspace when a task needs a capability that no agent has (steps:
 * rules/staffing/extend.ts). Creates the missing stages, proposes a tested draft to the human, and
 * writes the agent's file after approval. The waiting task is then offered again.
 */
import { createHash } from 'node:crypto';
import type { Agent } from '../../domain/agent/agent.js';
import type { Draft } from '../../domain/agent/draft.js';
import { childId } from '../../domain/task/id.js';
import { problem } from '../../domain/problem.js';
import { isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import { NO_USAGE } from '../../domain/budget/usage.js';
import type { Claim } from '../../ports/store/tasks.js';
import { extendStep, type ExtendInput, type ExtendStep } from '../../rules/staffing/extend.js';
import { similarity } from '../../rules/staffing/similarity.js';
import { bidsOf, costsOf } from '../tasks/costs.js';
import { approvalFor, consult } from '../approvals/request.js';
import { askRule } from '../core/ask-rule.js';
import { createChildren } from '../tasks/create-children.js';
import { childResult } from '../calls/child-result.js';
import { asCapability, capabilityQuestion } from './capability-question.js';
import { fail, park, release } from '../tasks/settle.js';
import { isOfRole } from '../../domain/task/role.js';
import { isBuilt, KNOWN_TOOLS } from '../../tools/toolbox.js';
import { grantForCost } from '../tasks/grant.js';
import { record, type EngineContext } from '../core/context.js';

/** The capability to draft agents. */
const MAKER = 'agent_creation';
const RESEARCHERS = ['web_search', 'research'];

/**
 * False if no capability is missing or no agent can draft agents. `unable`: what the bidders said,
 * if none of them is able; then the human names the missing capability first.
 */
export async function extend(
  context: EngineContext,
  claim: Claim,
  task: Task,
  unable?: readonly string[],
): Promise<boolean> {
  const named = unable === undefined ? 'nothing' : await namedCapability(context, claim, task, unable);
  if (named === 'waiting') return true;
  const input = situation(context, task, named === 'nothing' ? [] : [named.capability]);
  if (input === undefined) return false;
  const { step, children } = await askRule<ExtendStep>(
    (known) => extendStep({ ...input, children: known }),
    (next) => (next.do === 'fail' ? [] : next.children),
    (id) => context.tasks.read(id),
  );
  const offered = withBids(task, step.do === 'fail' ? [] : step.children, children);
  for (const bid of await bidsOf(context, task)) children.set(bid.task.id, bid);
  if (step.do === 'fail') await fail(context, claim, offered, step.problem, costsOf(NO_USAGE, children.values()));
  else if (step.do === 'ask') await ask(context, claim, offered, step.children, children);
  else await propose(context, claim, offered, input, step, children);
  return true;
}

async function namedCapability(
  context: EngineContext,
  claim: Claim,
  task: Task,
  unable: readonly string[],
): Promise<'waiting' | 'nothing' | { capability: string }> {
  const maker = makerAmong(presentAgents(context));
  if (maker === undefined) return 'nothing';
  const { child: wanted, placed, answer } = await consult(context, capabilityQuestion(task, maker, unable));
  if (answer.kind !== 'open') {
    const given = placed === undefined ? undefined : childResult(placed);
    const capability = given?.isError === false ? asCapability(given.text) : '';
    return capability === '' ? 'nothing' : { capability };
  }
  const costs = costsOf(NO_USAGE, await bidsOf(context, task));
  await createChildren(context, task, [wanted]);
  await park(context, claim, task, { tasks: [wanted.id] }, costs);
  return 'waiting';
}

/** The cost of finding an assignee stays with the task, so its record names these children. */
function withBids(task: Task, wanted: readonly WantedChild[], known: ReadonlyMap<string, unknown>): Task {
  return {
    ...task,
    bids: [...new Set([...(task.bids ?? []), ...wanted.map((child) => child.id), ...known.keys()])].sort(),
  };
}

function presentAgents(context: EngineContext): Agent[] {
  return [...context.agents.all().values()].filter(({ name }) => !context.pauses.all().has(name));
}

function has(agent: Agent, need: string): boolean {
  return agent.capabilities.includes(need);
}

function makerAmong(agents: readonly Agent[]): Agent | undefined {
  return agents.find((agent) => has(agent, MAKER));
}

/** `named`: what the human says is missing. */
function situation(
  context: EngineContext,
  task: Task,
  named: readonly string[],
): Omit<ExtendInput, 'children'> | undefined {
  const agents = presentAgents(context);
  const needs = [...task.requirements, ...named].filter((need) => !agents.some((agent) => has(agent, need)));
  const maker = makerAmong(agents)?.name;
  if (needs.length === 0 || maker === undefined) return undefined;
  const researcher = agents.find((agent) => agent.name !== maker && RESEARCHERS.some((need) => has(agent, need)))?.name;
  const rival = mostSimilar(
    task,
    agents.filter((agent) => agent.name !== maker),
  );
  return { task, needs, maker, researcher, rival, tools: offeredTools(context), agents };
}

/** Our own tools, without tools that only a role gives, and the plugin tools that agents use. */
function offeredTools({ tools, agents }: EngineContext): ExtendInput['tools'] {
  const used = [...agents.all().values()].flatMap((agent) => agent.tools);
  return [...new Set([...KNOWN_TOOLS, ...used])].flatMap((name) => {
    const tool = tools.get(name);
    const isOffered = tool !== undefined && (tool.plugin !== undefined || (isBuilt(name) && !isOfRole(name)));
    return isOffered ? [{ name, description: tool.description }] : [];
  });
}

function mostSimilar(task: Task, agents: readonly Agent[]): string | undefined {
  const profile = ({ description, expertise, capabilities }: Agent): string =>
    [description, ...expertise, ...capabilities].join(' ');
  const score = (agent: Agent): number => similarity(profile(agent), task.description);
  return agents.toSorted((a, b) => score(b) - score(a) || (a.name < b.name ? -1 : 1))[0]?.name;
}

async function ask(
  context: EngineContext,
  claim: Claim,
  task: Task,
  wanted: readonly WantedChild[],
  known: ReadonlyMap<string, Placed | undefined>,
): Promise<void> {
  const missing = wanted.filter((child) => known.get(child.id) === undefined);
  const costs = costsOf(NO_USAGE, known.values());
  const granted = grantForCost(context, task, missing, known);
  if ('code' in granted) return fail(context, claim, task, granted, costs);
  await createChildren(context, task, granted);
  const open = [...known.values()].flatMap((child) => (child && !isEnded(child.state) ? child.task.id : []));
  return park(context, claim, task, { tasks: [...open, ...granted.map((child) => child.id)] }, costs);
}

/** The human sees the whole file, its script if there is one, and the results of the trial. */
async function propose(
  context: EngineContext,
  claim: Claim,
  task: Task,
  { maker, needs }: Omit<ExtendInput, 'children'>,
  { draft, evidence, round }: ExtendStep & { do: 'propose' },
  children: ReadonlyMap<string, Placed | undefined>,
): Promise<void> {
  const costs = costsOf(NO_USAGE, children.values());
  const asked = approval(context, task, context.agents.all().get(maker)!, draft, evidence, round);
  const { child: wanted, answer } = await consult(context, asked);
  if (answer.kind === 'open') {
    await createChildren(context, task, [wanted]);
    return park(context, claim, task, { tasks: [wanted.id] }, costs);
  }
  if (answer.kind === 'no') {
    const why = `no agent has the capability ${needs.join(', ')}, and the new agent ${draft.name} was not approved: ${answer.message}`;
    return fail(
      context,
      claim,
      task,
      problem('nobody_fit', why, { hint: 'write an agent with guild agent new, then retry the task' }),
      costs,
    );
  }
  const edited = answer.edited?.['content'];
  const source = typeof edited === 'string' ? edited : onProbation(draft.source);
  const failure = await register(context, draft, source, wanted.id);
  if (failure !== undefined) return fail(context, claim, task, failure, costs);
  record(context, 'agent.created', { agent: draft.name, task: task.id, cause: wanted.id });
  // A capability that the human named is now required, so that the new agent gets the task.
  const requirements = [...new Set([...task.requirements, ...needs])];
  return release(context, claim, { ...task, requirements }, `the new agent ${draft.name} can do it`, costs);
}

function approval(
  context: EngineContext,
  task: Task,
  maker: Agent,
  draft: Draft,
  evidence: string[],
  round: number,
): WantedChild {
  const content = onProbation(draft.source);
  const script = draft.script ? { script_file: draft.script.file, script_text: draft.script.text } : {};
  const call = { id: `new-${round}`, name: 'create_agent', arguments: { name: draft.name, content, ...script } };
  const verdict = { verdict: 'ask' as const, reasons: evidence, risk: 'HIGH' as const };
  return approvalFor(context, task, maker, call, verdict, { id: childId(task.id, `new-approve-${round}`) });
}

/** Idempotent: a file that already has this content is left as it is. */
async function register(
  context: EngineContext,
  draft: Draft,
  source: string,
  approval: string,
): ReturnType<EngineContext['agents']['create']> {
  context.agents.refresh();
  const definition = createHash('sha256').update(source).digest('hex');
  if (context.agents.all().get(draft.name)?.definition !== definition) {
    const failure = await context.agents.create(draft.name, source, approval);
    if (failure !== undefined) return failure;
  }
  context.agents.refresh();
  const { script, name } = draft;
  if (script === undefined) return undefined;
  await context.workspaceFiles.makeFolder(name, `workspaces/${name}/tools`);
  const written = await context.workspaceFiles.write(name, `workspaces/${name}/${script.file}`, script.text);
  return written.ok ? undefined : problem(written.code ?? 'disk_failed', written.reason);
}

/** The mark is in the agent's file, where a person can see and remove it. */
function onProbation(source: string): string {
  return /^probation:/m.test(source) ? source : source.replace(/^---[ \t]*\r?\n/, (line) => `${line}probation: true\n`);
}
