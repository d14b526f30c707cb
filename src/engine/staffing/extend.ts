/**
 * Extends the workspace when a task needs what no agent has (rules/extend.ts says how): asks for the stages that are missing, puts a draft that
 * held to the human, and writes the agent's file once the human agreed. The task itself stays unaddressed and waits; when the new agent is there, it is
 * offered again, and there is one who fits.
 */
import { createHash } from 'node:crypto';
import type { Agent } from '../../domain/agent/agent.js';
import type { Draft } from '../../domain/agent/draft.js';
import { childId } from '../../domain/task/id.js';
import { problem } from '../../domain/problem.js';
import { HUMAN, isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import { NO_USAGE } from '../../domain/budget/usage.js';
import type { Claim } from '../../ports/store/tasks.js';
import { extendStep, type ExtendInput, type ExtendStep } from '../../rules/staffing/extend.js';
import { similarity } from '../../rules/staffing/similarity.js';
import { bidsOf, costsOf } from '../tasks/costs.js';
import { approvalFor, answerTo } from '../approvals/request.js';
import { askRule } from '../core/ask-rule.js';
import { createChildren } from '../tasks/create-children.js';
import { fail, park, release } from '../tasks/settle.js';
import { grantForCost } from '../tasks/grant.js';
import { record, type EngineContext } from '../core/context.js';

/** Who may draft agents. */
const MAKER = 'agent_creation';
const RESEARCHERS = ['web_search', 'research'];

/** False: nothing can be done about it here, because nothing is lacking or nobody makes agents. */
export async function extend(context: EngineContext, claim: Claim, task: Task): Promise<boolean> {
  const given = situation(context, task);
  if (given === undefined) return false;
  const { step, children } = await askRule<ExtendStep>(
    (known) => extendStep({ ...given, children: known }),
    (one) => (one.do === 'fail' ? [] : one.children),
    (id) => context.tasks.read(id),
  );
  const offered = withBids(task, step.do === 'fail' ? [] : step.children, children);
  for (const one of await bidsOf(context, task)) children.set(one.task.id, one);
  if (step.do === 'fail') await fail(context, claim, offered, step.problem, costsOf(NO_USAGE, children.values()));
  else if (step.do === 'ask') await ask(context, claim, offered, step.children, children);
  else await propose(context, claim, offered, given, step, children);
  return true;
}

/** What was spent on finding a taker stays in the books of the task, whoever takes it. */
function withBids(task: Task, wanted: readonly WantedChild[], known: ReadonlyMap<string, unknown>): Task {
  return {
    ...task,
    bids: [...new Set([...(task.bids ?? []), ...wanted.map((child) => child.id), ...known.keys()])].sort(),
  };
}

function situation(context: EngineContext, task: Task): Omit<ExtendInput, 'children'> | undefined {
  const agents = [...context.agents.all().values()].filter(({ name }) => !context.pauses.all().has(name));
  const has = (agent: Agent, need: string): boolean => agent.capabilities.includes(need);
  const needs = task.requirements.filter((need) => !agents.some((agent) => has(agent, need)));
  const maker = agents.find((agent) => has(agent, MAKER))?.name;
  if (needs.length === 0 || maker === undefined) return undefined;
  const researcher = agents.find((agent) => agent.name !== maker && RESEARCHERS.some((need) => has(agent, need)))?.name;
  const rival = best(
    task,
    agents.filter((agent) => agent.name !== maker),
  );
  return { task, needs, maker, ...(researcher ? { researcher } : {}), ...(rival ? { rival } : {}) };
}

/** Whose own words are most like the task's. */
function best(task: Task, agents: readonly Agent[]): string | undefined {
  const words = ({ description, expertise, capabilities }: Agent): string =>
    [description, ...expertise, ...capabilities].join(' ');
  const like = (agent: Agent): number => similarity(words(agent), task.description);
  return agents.toSorted((a, b) => like(b) - like(a) || (a.name < b.name ? -1 : 1))[0]?.name;
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
  const open = [...known.values()].flatMap((one) => (one && !isEnded(one.state) ? one.task.id : []));
  return park(context, claim, task, { tasks: [...open, ...granted.map((child) => child.id)] }, costs);
}

/** The human sees the whole file, the script if it brings one, and what came of trying it. */
async function propose(
  context: EngineContext,
  claim: Claim,
  task: Task,
  { maker, needs }: Omit<ExtendInput, 'children'>,
  { draft, evidence, round }: ExtendStep & { do: 'propose' },
  children: ReadonlyMap<string, Placed | undefined>,
): Promise<void> {
  const costs = costsOf(NO_USAGE, children.values());
  const wanted = approval(context, task, context.agents.all().get(maker)!, draft, evidence, round);
  const said = answerTo(await context.tasks.read(wanted.id), wanted);
  if (said.kind === 'open') {
    await createChildren(context, task, [wanted]);
    return park(context, claim, task, { tasks: [wanted.id] }, costs);
  }
  if (said.kind === 'no') {
    const why = `no agent has the capability ${needs.join(', ')}, and the new agent ${draft.name} was not allowed: ${said.message}`;
    return fail(
      context,
      claim,
      task,
      problem('nobody_fit', why, { hint: 'write one by hand: guild agent new' }),
      costs,
    );
  }
  const edited = said.edited?.['content'];
  const wrong = await register(context, draft, typeof edited === 'string' ? edited : onProbation(draft.source));
  if (wrong !== undefined) return fail(context, claim, task, wrong, costs);
  record(context, 'agent.created', { agent: draft.name, task: task.id, cause: wanted.id });
  return release(context, claim, task, `the agent ${draft.name} is there for it now`, costs);
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
  const wanted = approvalFor(context, task, maker, call, verdict);
  return { ...wanted, id: childId(task.id, `new-approve-${round}`), to: HUMAN };
}

/** Written once, whoever comes; what is there already must be just this. */
async function register(
  context: EngineContext,
  draft: Draft,
  source: string,
): ReturnType<EngineContext['agents']['create']> {
  context.agents.refresh();
  const definition = createHash('sha256').update(source).digest('hex');
  if (context.agents.all().get(draft.name)?.definition !== definition) {
    const wrong = await context.agents.create(draft.name, source);
    if (wrong !== undefined) return wrong;
  }
  context.agents.refresh();
  const { script, name } = draft;
  if (script === undefined) return undefined;
  await context.workspaceFiles.makeFolder(name, `workspaces/${name}/tools`);
  const written = await context.workspaceFiles.write(name, `workspaces/${name}/${script.file}`, script.text);
  return written.ok ? undefined : problem(written.code ?? 'disk_failed', written.reason);
}

/** Says so in the file, where a person sees it and may take it out. */
function onProbation(source: string): string {
  return /^probation:/m.test(source) ? source : source.replace(/^---[ \t]*\r?\n/, (line) => `${line}probation: true\n`);
}
