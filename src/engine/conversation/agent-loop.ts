/**
 * The agent loop: takes turns with a model until the task has its answer, must wait for others, or
 * cannot continue. `nextStep` decides, `perform` acts. A turn is one model call, and its answer is
 * durable before any of its tool calls runs. The state is in the conversation alone, so any process
 * can continue from it.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { windowOf } from '../../domain/config/window.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Message } from '../../domain/session/session.js';
import { printsOf } from '../../domain/session/prints.js';
import { HUMAN, type Task } from '../../domain/task/task.js';
import type { Claim } from '../../ports/store/tasks.js';
import { contribution } from '../../rules/patterns/team.js';
import { resolveModels } from '../../rules/scheduling/models.js';
import type { EngineContext } from '../core/context.js';
import { stopReason } from '../core/flight.js';
import { grantedNames } from '../core/grants.js';
import { complete, fail, kept, park, release, settleStopped } from '../tasks/settle.js';
import { account } from './account.js';
import { compactor } from './compact.js';
import { factsOf } from '../core/message-facts.js';
import { openConversation, type Conversation } from './conversation.js';
import { nextStep } from './decide/next-step.js';
import { perform, type Loop } from './perform.js';
import { headTokens } from './prompt.js';
import { presentAgent } from './rights.js';
import type { Action, Ending, Facts, Step, Talk } from './decide/step.js';
import { tainted } from './taint.js';

export async function runAgentLoop(
  context: EngineContext,
  claim: Claim,
  task: Task,
  agent: Agent,
  stop: AbortSignal,
): Promise<void> {
  const resolved = resolveModels(agent, context.config, task.role);
  if ('code' in resolved) return fail(context, claim, task, resolved);
  const conversation = await openConversation(context, claim, task, agent);
  const owned: Task = { ...task, session: conversation.id };
  const { models, settings } = resolved;
  const loop: Loop = {
    context,
    task: owned,
    conversation,
    account: account(context, owned, conversation, agent),
    resolved,
    fit: compactor(
      windowOf(models, context.config.windows),
      headTokens(context, conversation.head()),
      settings.maxTokens ?? 4096,
      (messages) => factsOf(context, messages),
    ),
    stop,
  };
  return end(loop, claim, await runSteps(loop));
}

async function runSteps(loop: Loop): Promise<Ending> {
  let talk = talkOf(loop);
  let learned: Facts = {};
  for (;;) {
    const step = nextStep(talk, { ...learned, ...factsNow(loop) });
    if (isEnding(step)) return step;
    const done = await perform(loop, step);
    if (done === 'changed') [talk, learned] = [talkOf(loop), {}];
    else if ('do' in done) return done;
    else learned = { ...learned, ...done };
  }
}

function talkOf({ context, task, conversation }: Loop): Talk {
  const agent = presentAgent(context, conversation, task);
  return {
    task,
    agent,
    messages: conversation.mine(),
    all: conversation.messages(),
    tools: grantedNames(agent, task, context.config.channels),
    changes: (tool) => context.tools.get(tool)?.kind !== 'pure',
  };
}

function factsNow({ context, task, conversation, stop }: Loop): Facts {
  const { pauses } = context;
  return {
    stop: stopReason(stop),
    isPaused: pauses.isPaused(conversation.agent.name) || pauses.isTaskPaused(task.root),
  };
}

const ENDINGS: ReadonlySet<Step['do']> = new Set<Ending['do']>(['answer', 'fail', 'stop', 'put_back', 'wait']);

function isEnding(step: Action | Ending): step is Ending {
  return ENDINGS.has(step.do);
}

async function end(
  { context, task: running, conversation, account: costAccount }: Loop,
  claim: Claim,
  ending: Ending,
): Promise<void> {
  await conversation.created();
  const written = conversation.written();
  const task: Task = { ...running, ...(written ? { written } : {}) };
  const costs = await costAccount.costs();
  switch (ending.do) {
    case 'answer': {
      const marked = await tainted(context, task, conversation);
      const { isRound } = roleFacts(task.role);
      const result = isRound ? contribution(conversation.mine(), ending.text) : ending.text;
      return complete(context, claim, marked, result, costs);
    }
    case 'fail': {
      if (ending.said === undefined) return fail(context, claim, task, ending.problem, costs);
      const marked = await tainted(context, task, conversation);
      return fail(context, claim, marked, ending.problem, costs, await kept(context, ending.said));
    }
    case 'stop':
      return settleStopped(context, claim, await tainted(context, task, conversation), ending.problem, costs);
    case 'put_back':
      return release(context, claim, left(context, task, conversation), ending.why, costs);
    case 'wait':
      if (ending.tasks.some((id) => context.tasks.getOpen(id)?.task.to === HUMAN))
        await context.sessions.setStatus(conversation.id, 'sleeping');
      return park(context, claim, left(context, task, conversation), { tasks: ending.tasks }, costs);
  }
}

/**
 * A person may edit the conversation before a process takes the task again. Secrets that it has
 * read stay on this machine.
 */
function left(context: EngineContext, task: Task, conversation: Conversation): Task {
  const { written } = task;
  if (written === undefined) return task;
  const messages = conversation.messages();
  const secrets = keepsSecrets(context, messages) ? { secrets_on: context.presence.peer.host } : {};
  return { ...task, written: { ...written, prints: printsOf(messages), ...secrets } };
}

function keepsSecrets(context: EngineContext, messages: readonly Message[]): boolean {
  if (context.desk === undefined || !factsOf(context, messages).hasPrivate) return false;
  return messages.some((message) => message.private !== undefined && context.privateTexts.get(message.private));
}
