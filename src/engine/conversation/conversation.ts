/**
 * A conversation that this process holds open. Every write first looks whether a person changed the file; if so nothing
 * is written, the change is recorded, and the work goes on from what the file says now.
 */
import { sessionId } from '../../domain/session/session-id.js';
import type { Agent } from '../../domain/agent/agent.js';
import { problem, type Problem } from '../../domain/problem.js';
import { sessionUsage, type Message, type Session } from '../../domain/session/session.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import { addUsage, NO_USAGE, type Usage } from '../../domain/budget/usage.js';
import type { Claim } from '../../ports/store/tasks.js';
import { mindFor } from '../../rules/scheduling/models.js';
import { record, type EngineContext } from '../core/context.js';
import { firstMessage, resultsBefore } from './prompt.js';

export interface Conversation {
  id: string;
  /** The agent as it was when the conversation began. */
  agent: Agent;
  /** All that was ever said in it. */
  messages(): readonly Message[];
  /** What was said for this task; the same, unless several tasks share the conversation. */
  mine(): readonly Message[];
  /** `edited`: nothing was written, and `messages()` is now what the person left. */
  append(messages: Message[], durable: boolean): Promise<'written' | 'edited'>;
  /** Where another task began this conversation, this one goes on in it from a message of its own. Nothing to do where it has one. */
  begin(): Promise<void>;
  /** What its turns have cost; kept up to date, so asking does not depend on the length. */
  usage(): Usage;
  /** Every tool call is known to have its result. */
  whole: boolean;
  /** Its file is there. Whoever leaves it waits for that. */
  made(): Promise<void>;
}

/** Throws `HeldConversation` if it cannot be read. */
export async function openConversation(
  context: EngineContext,
  claim: Claim,
  task: Task,
  agent: Agent,
): Promise<Conversation> {
  const id = sessionId(task, agent);
  // A conversation of its own that is there before anybody is known to have taken the task: whoever began it is gone.
  const isLeft = claim.task.claimed_at === undefined && task.session === undefined && agent.session !== 'shared';
  const opened = await context.sessions.open(id, { repair: claim.recovered || isLeft });
  if (opened.kind === 'held') throw new HeldConversation(id, opened.problem, opened.stamp);
  if (opened.kind === 'open') {
    noteEdit(context, task, agent, id, opened.edited);
    const talk = conversation(context, task, id, await pinned(context, agent, opened.session), opened.session);
    await talk.begin();
    return talk;
  }
  const first = firstMessage(context, agent, task, await resultsBefore(context, task));
  const session: Session = {
    header: {
      sessionId: id,
      agentId: agent.name,
      ...(agent.type ? { agentType: agent.type } : {}),
      ...modelOf(agent, task),
      definition: agent.definition,
      created: context.clock.now().toISOString(),
      status: 'active',
      task: task.id,
    },
    messages: [first],
  };
  // The file is made while the model is thinking, once the question is on its way; nothing is appended before it is there. A
  // failure is met where it is awaited.
  const behind = roleFacts(task.role).isStage && agent.session !== 'shared';
  const ready = new Promise((resolve) => setImmediate(resolve)).then(() => makeFiles(context, agent, session, behind));
  ready.catch(() => undefined);
  record(context, 'session.created', { task: task.id, agent: agent.name, session: id });
  return conversation(context, task, id, agent, session, ready);
}

function modelOf(agent: Agent, { role }: Task): { model?: string } {
  const model = mindFor(agent, role)?.model ?? agent.models[0];
  return model ? { model } : {};
}

/** The conversation as it is kept; undefined if there was one. */
async function makeFiles(
  context: EngineContext,
  agent: Agent,
  { header, messages }: Session,
  behind: boolean,
): Promise<Session | undefined> {
  const [made] = await Promise.all([
    context.sessions.create(header, [...messages], { durable: !behind }),
    context.blobs.put(context.agents.source(agent)),
  ]);
  return made;
}

function conversation(
  context: EngineContext,
  task: Task,
  id: string,
  agent: Agent,
  session: Session,
  ready?: Promise<Session | undefined>,
): Conversation {
  let now = session;
  let isReady = ready === undefined;
  let begun: number | undefined;
  let counted = { messages: [] as readonly Message[], length: 0, usage: NO_USAGE };
  const self: Conversation = {
    id,
    agent,
    whole: false,
    messages: () => now.messages,
    mine: () => (start() === 0 ? now.messages : now.messages.slice(start())),
    usage() {
      const { messages } = now;
      if (counted.messages !== messages || counted.length > messages.length || counted.length < start())
        counted = { messages, length: start(), usage: earlier(messages.slice(0, start())) };
      if (counted.length < messages.length) {
        const usage = addUsage(counted.usage, sessionUsage(messages.slice(counted.length)));
        counted = { messages, length: messages.length, usage };
      }
      return counted.usage;
    },
    async made() {
      if (isReady) return;
      const made = await ready;
      isReady = true;
      if (made === undefined) await reopen();
      else now = made;
    },
    async append(messages, durable) {
      await self.made();
      const before = now.messages.length;
      const written = await context.sessions.append(id, messages, { durable });
      if (messages.some((message) => message.task !== undefined)) begun = undefined;
      // Somebody else here opened it meanwhile, or it was saved in this very moment: what was written stands in the file and not in what
      // we hold. Who went on from that would never see the answer and ask for it again.
      if (written === 'edited' || now.messages.length === before) {
        await reopen();
        await self.begin();
      }
      return written;
    },
    async begin() {
      // A task without a part of its own sees none of its answers and would ask its model forever, so this is not given up.
      while (self.mine().length === 0) {
        const first = { ...firstMessage(context, agent, task), task: task.id };
        const written = await context.sessions.append(id, [first], { durable: false });
        begun = undefined;
        if (written === 'edited') await reopen();
      }
    },
  };
  return self;

  /**
   * Where this task's part begins: at the last message that begins a task, if that is ours. If it is another's, ours has not
   * begun, or was left when the other came, and begins anew at the end.
   */
  function start(): number {
    const { header, messages } = now;
    if (header.task === undefined) return 0;
    begun ??= messages.findLastIndex((message) => message.task !== undefined);
    const owner = begun < 0 ? header.task : messages[begun]!.task;
    if (owner === task.id) return Math.max(0, begun);
    return messages.length;
  }

  /** What this task cost in parts of its own before another came in between, in a conversation that several share. */
  function earlier(before: readonly Message[]): Usage {
    let owner = now.header.task;
    return sessionUsage(
      before.filter((message) => {
        owner = message.task ?? owner;
        return owner === task.id;
      }),
    );
  }

  async function reopen(): Promise<void> {
    const opened = await context.sessions.open(id);
    if (opened.kind === 'missing') throw new HeldConversation(id, gone(id));
    if (opened.kind === 'held') throw new HeldConversation(id, opened.problem, opened.stamp);
    noteEdit(context, task, agent, id, opened.edited);
    if (opened.edited || opened.session !== now) {
      self.whole = false;
      counted = { messages: [], length: 0, usage: NO_USAGE };
      begun = undefined;
    }
    now = opened.session;
  }
}

/** A person is in the middle of an edit, or took the file away: the task must be left alone for now. */
export class HeldConversation extends Error {
  constructor(
    readonly session: string,
    readonly problem: Problem,
    /** Of its file as it was read; absent: it is gone. */
    readonly stamp?: string,
  ) {
    super(problem.message);
  }
}

function gone(id: string): Problem {
  return problem('not_found', `the conversation ${id} was removed while its agent worked`, {
    hint: 'put the file back, or retry the task to begin anew',
  });
}

/** A conversation goes on with the agent file it began with, as long as that is kept. */
async function pinned(context: EngineContext, agent: Agent, session: Session): Promise<Agent> {
  const definition = session.header.definition;
  if (definition === undefined || definition === agent.definition) return agent;
  const source = await context.blobs.get(definition);
  return (source && context.agents.parse(source.toString('utf8'), agent.file)) ?? agent;
}

function noteEdit(context: EngineContext, task: Task, agent: Agent, session: string, edited: object | undefined): void {
  if (edited) record(context, 'session.edited', { task: task.id, agent: agent.name, session, ...edited });
}
