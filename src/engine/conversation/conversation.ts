/**
 * A conversation that this process has open. Every write first checks whether a person changed the
 * file. If so, nothing is written, the edit is recorded, and work continues from the new content.
 */
import { defined } from '../../domain/defined.js';
import { followUpOf } from '../../domain/task/follow-up.js';
import { sessionId } from '../../domain/session/session-id.js';
import type { Agent } from '../../domain/agent/agent.js';
import { problem, type Problem } from '../../domain/problem.js';
import { editSince, type SessionEdit } from '../../domain/session/prints.js';
import { sessionUsage, type Message, type Session } from '../../domain/session/session.js';
import { roleFacts } from '../../domain/task/role.js';
import { tornEnd, writtenPart } from '../../domain/session/tear.js';
import type { ToolSpec } from '../../ports/model.js';
import type { Task, Written } from '../../domain/task/task.js';
import { addUsage, NO_USAGE, type Usage } from '../../domain/budget/usage.js';
import type { Claim } from '../../ports/store/tasks.js';
import { mindFor } from '../../rules/scheduling/models.js';
import { record, type EngineContext } from '../core/context.js';
import { withAttachments } from '../tasks/attachments.js';
import { builtHead, type BuiltHead } from './heads.js';
import { factsOf, pinsInForce } from '../core/message-facts.js';
import { pinsOf, readPins, storePins } from './pins.js';
import { openingTaint } from './sources.js';
import { taintOfSession } from './taint.js';
import { firstMessage, promptHead, resultsBefore, type PromptHead } from './prompt.js';
import { controlMessage } from './decide/step.js';

export interface Conversation {
  id: string;
  agent: Agent;
  /** The task whose conversation it was at first. */
  startedBy?: string;
  /** The part before the messages, the same in every call. */
  head(): PromptHead;
  /** When its head was pinned; undefined: it has no pins, and each opening builds the head. */
  startedAt?: string;
  messages(): readonly Message[];
  /** The messages of this task; all messages, unless several tasks share the conversation. */
  mine(): readonly Message[];
  /** `edited`: nothing was written, and `messages()` now returns the edited content. */
  append(messages: Message[], durable: boolean): Promise<'written' | 'edited'>;
  /** Appends this task's first message if another task started the conversation. Idempotent. */
  begin(): Promise<void>;
  /**
   * Appends a message that these tools are available. From then on the conversation has them in
   * this form.
   */
  offer(tools: readonly ToolSpec[], text: string): Promise<void>;
  /** Cost of this task's turns. Counted incrementally, so the length does not matter. */
  usage(): Usage;
  /** How many messages are safely written; undefined if that is not known. */
  written(): Written | undefined;
  /** Resolves when the file exists. The task must not leave this process before that. */
  created(): Promise<void>;
}

/** Throws `UnreadableConversation` if the file cannot be read. */
export async function openConversation(
  context: EngineContext,
  claim: Claim,
  task: Task,
  agent: Agent,
): Promise<Conversation> {
  const id = sessionId(task, agent);
  // The task was never claimed, but its own conversation exists: the process that created it died.
  const isAbandoned = claim.task.claimed_at === undefined && task.session === undefined && agent.session !== 'shared';
  const isNew = isAbandoned && !claim.recovered && claim.from === 'pending';
  const opened = await context.sessions.open(id, { repair: claim.recovered || isAbandoned, isNew });
  if (opened.kind === 'held') throw new UnreadableConversation(id, opened.problem, opened.stamp);
  if (opened.kind === 'open') {
    await refuseTorn(context, id, opened.session, task.written);
    noteEdit(context, task, agent, id, opened.edited ?? editBefore(claim, opened.session));
    await wakeUp(context, opened.session);
    const speaker = await pinned(context, task, agent, opened.session);
    const existing = conversation(
      context,
      task,
      speaker,
      opened.session,
      await headOf(context, task, speaker, opened.session),
    );
    await existing.begin();
    return existing;
  }
  const request = firstMessage(context, agent, task, { results: await resultsBefore(context, task) });
  const first = await opening(context, agent, task, request);
  const built = builtHead(context, agent, task);
  const session: Session = {
    header: defined({
      sessionId: id,
      agentId: agent.name,
      agentType: agent.type,
      ...modelOf(agent, task),
      definition: agent.definition,
      pins: built.pins,
      created: context.clock.now().toISOString(),
      status: 'active',
      task: task.id,
    }),
    messages: [first],
  };
  // The file is written while the model call is under way. `append` and `created` wait for it and
  // see a failure.
  const isDurable = !(roleFacts(task.role).isStage && agent.session !== 'shared');
  const ready = new Promise((resolve) => setImmediate(resolve)).then(() =>
    makeFiles(context, built, session, isDurable),
  );
  ready.catch(() => undefined);
  record(context, 'session.created', { task: task.id, agent: agent.name, session: id });
  return conversation(context, task, agent, session, built.head, ready);
}

function modelOf(agent: Agent, { role }: Task): { model?: string } {
  const model = mindFor(agent, role)?.model ?? agent.models[0];
  return model ? { model } : {};
}

/** The first message of a task, with its attachments and what influenced them. */
async function opening(context: EngineContext, agent: Agent, task: Task, request: Message): Promise<Message> {
  const message = await withAttachments(context, agent, task, request);
  const taint = await openingTaint(context, agent, task, (id) => taintOfSession(context, id));
  return taint.length === 0 ? message : { ...message, taint };
}

/** The stored conversation; undefined if the file already exists. */
async function makeFiles(
  context: EngineContext,
  head: BuiltHead,
  { header, messages }: Session,
  durable: boolean,
): Promise<Session | undefined> {
  // The header names these blobs, so they are written before it.
  await head.stored();
  return context.sessions.create(header, [...messages], { durable });
}

function conversation(
  context: EngineContext,
  task: Task,
  agent: Agent,
  session: Session,
  pinnedHead: PromptHead,
  ready?: Promise<Session | undefined>,
): Conversation {
  const id = session.header.sessionId;
  let now = session;
  let head = pinnedHead;
  let isReady = ready === undefined;
  let startsAt: number | undefined;
  let known = task.written && { messages: task.written.messages, last: task.written.last };
  let counted = { messages: [] as readonly Message[], length: 0, usage: NO_USAGE };
  const self: Conversation = {
    id,
    agent,
    startedBy: session.header.task,
    head: () => head,
    startedAt:
      pinsInForce(context, session) === undefined
        ? undefined
        : (session.messages[0]?.timestamp ?? session.header.created),
    messages: () => now.messages,
    mine: () => (start() === 0 ? now.messages : now.messages.slice(start())),
    usage() {
      const { messages } = now;
      if (counted.messages !== messages || counted.length > messages.length || counted.length < start())
        counted = { messages, length: start(), usage: earlier() };
      if (counted.length < messages.length) {
        const usage = addUsage(counted.usage, sessionUsage(messages.slice(counted.length)));
        counted = { messages, length: messages.length, usage };
      }
      return counted.usage;
    },
    written: () => known,
    async created() {
      if (isReady) return;
      const stored = await ready;
      isReady = true;
      if (stored === undefined) await reopen();
      else now = stored;
    },
    async append(messages, durable) {
      await self.created();
      const before = now.messages.length;
      const written = await context.sessions.append(id, messages, { durable });
      // A durable write makes everything before it durable too.
      if (durable && written === 'written' && now.messages.length > before)
        known = writtenPart(now.messages, now.messages.length);
      if (messages.some((message) => message.task !== undefined)) startsAt = undefined;
      // If the messages are not in our copy, the file was opened or saved elsewhere meanwhile.
      // Reopen it; otherwise the answer would never be seen, and the model would be asked again.
      if (written === 'edited' || now.messages.length === before) {
        await reopen();
        await self.begin();
      }
      return written;
    },
    async offer(tools, text) {
      await self.append([await withTools(tools, text)], false);
    },
    async begin() {
      // Without a first message the task would not see its own answers and would ask forever.
      while (self.mine().length === 0) {
        const repinned = await repin();
        const request = {
          ...firstMessage(context, agent, task, { earlier: now.messages }),
          task: task.id,
          ...repinned,
        };
        const first = await opening(context, agent, task, request);
        const written = await context.sessions.append(id, [first, ...(await addedTools())], { durable: false });
        startsAt = undefined;
        if (written === 'edited') await reopen();
      }
      await repinWritten();
    },
  };
  return self;

  /** The agent file changed since the last pins: the conversation continues with the new one. */
  async function repin(): Promise<Pick<Message, 'definition' | 'pins'>> {
    const pin = pinOf(context, now);
    if (pin === undefined || pin === agent.definition) return {};
    head = promptHead(context, agent, task);
    await Promise.all([context.blobs.put(context.agents.source(agent)), storePins(context, head)]);
    record(context, 'session.repinned', {
      task: task.id,
      agent: agent.name,
      session: id,
      definition: agent.definition,
    });
    return { definition: agent.definition, pins: pinsOf(context, head) };
  }

  /**
   * If a person wrote the first message into the file, a second message brings the new pins and
   * says what changed.
   */
  async function repinWritten(): Promise<void> {
    const isAnswered = self.mine().some(({ role }) => role === 'assistant');
    if (followUpOf(task)?.from === undefined || isAnswered) return;
    const repinned = await repin();
    if (repinned.definition === undefined) return;
    const text = 'Your instructions or tools have changed since your last answer.';
    const timestamp = context.clock.now().toISOString();
    const said = { ...controlMessage('tools_changed', text), ...repinned, timestamp };
    if ((await context.sessions.append(id, [said], { durable: false })) === 'edited') await reopen();
  }

  /** A task in another role may need tools that the conversation was not pinned with. */
  async function addedTools(): Promise<Message[]> {
    const wanted = promptHead(context, agent, task);
    const known = new Set(head.tools.map(({ name }) => name));
    const added = wanted.tools.filter(({ name }) => !known.has(name));
    if (pinsInForce(context, now) === undefined || added.length === 0) return [];
    return [await withTools(added, `For this task you also have: ${added.map(({ name }) => name).join(', ')}.`)];
  }

  /** The message whose pins contain these tools: known tools are replaced, new ones come last. */
  async function withTools(tools: readonly ToolSpec[], text: string): Promise<Message> {
    const all = new Map([...head.tools, ...tools].map((tool) => [tool.name, tool]));
    head = { system: head.system, tools: [...all.values()] };
    await storePins(context, head);
    const timestamp = context.clock.now().toISOString();
    return { ...controlMessage('tools_changed', text), pins: pinsOf(context, head), timestamp };
  }

  /**
   * Index of this task's first message. The last message that starts a task decides: if it belongs
   * to another task, this task has not started or was interrupted, and starts again at the end.
   */
  function start(): number {
    const { header, messages } = now;
    if (header.task === undefined) return 0;
    startsAt ??= messages.findLastIndex((message) => message.task !== undefined);
    const owner = startsAt < 0 ? header.task : messages[startsAt]!.task;
    if (owner === task.id) return Math.max(0, startsAt);
    const written = followUpOf(task)?.from;
    return written !== undefined && written > startsAt ? Math.min(written, messages.length) : messages.length;
  }

  /** Cost of this task's turns before another task interrupted it in a shared conversation. */
  function earlier(): Usage {
    let owner = now.header.task;
    const first = owner === task.id ? 0 : (factsOf(context, now.messages).tasks.get(task.id) ?? Infinity);
    if (first >= start()) return NO_USAGE;
    return sessionUsage(
      now.messages.slice(first, start()).filter((message) => {
        owner = message.task ?? owner;
        return owner === task.id;
      }),
    );
  }

  async function reopen(): Promise<void> {
    const opened = await context.sessions.open(id);
    if (opened.kind === 'missing') throw new UnreadableConversation(id, gone(id));
    if (opened.kind === 'held') throw new UnreadableConversation(id, opened.problem, opened.stamp);
    await refuseTorn(context, id, opened.session, known);
    noteEdit(context, task, agent, id, opened.edited);
    if (opened.edited || opened.session !== now) {
      counted = { messages: [], length: 0, usage: NO_USAGE };
      startsAt = undefined;
    }
    now = opened.session;
    head = await headOf(context, task, agent, now);
  }
}

/** The pinned head. Older files have no pins, and a blob may be gone: then it is built again. */
async function headOf(context: EngineContext, task: Task, agent: Agent, session: Session): Promise<PromptHead> {
  const pins = pinsInForce(context, session);
  return (pins && (await readPins(context, pins))) ?? promptHead(context, agent, task);
}

/** A person is editing the file or removed it; the task must wait. */
export class UnreadableConversation extends Error {
  constructor(
    readonly session: string,
    readonly problem: Problem,
    /** Stamp of the unreadable file; absent: the file is gone. */
    readonly stamp?: string,
  ) {
    super(problem.message);
  }
}

/** Throws if the file has lost its end, so that the task waits until a person has looked at it. */
async function refuseTorn(
  context: EngineContext,
  id: string,
  session: Session,
  written: Written | undefined,
): Promise<void> {
  const torn = tornEnd(session, written, `sessions/${id}.session.yaml`);
  if (torn === undefined) return;
  throw new UnreadableConversation(id, torn, await context.sessions.stamp(id));
}

function gone(id: string): Problem {
  return problem('not_found', `the conversation ${id} was removed while its agent worked`, {
    hint: 'put the file back, or retry the task to start over',
  });
}

/**
 * A conversation keeps the agent file it started with, as long as that version is stored. A
 * follow-up starts with the current file.
 */
async function pinned(context: EngineContext, task: Task, agent: Agent, session: Session): Promise<Agent> {
  const definition = pinOf(context, session);
  const isNew = followUpOf(task) !== undefined && !factsOf(context, session.messages).tasks.has(task.id);
  if (isNew || definition === undefined || definition === agent.definition) return agent;
  const source = await context.blobs.get(definition);
  return (source && context.agents.parse(source.toString('utf8'), agent.file)) ?? agent;
}

/** The agent file that the conversation continues with; a follow-up may have changed it. */
function pinOf(context: EngineContext, { header, messages }: Session): string | undefined {
  return factsOf(context, messages).definition ?? header.definition;
}

/**
 * A person's changes since the task left the last process. Unknown in a shared conversation, where
 * other tasks write too.
 */
function editBefore({ recovered, task }: Claim, { messages }: Session): SessionEdit | undefined {
  const prints = task.written?.prints;
  if (prints === undefined || recovered || messages.some((message) => message.task !== undefined)) return undefined;
  return editSince(prints, messages);
}

/** Clears the status `sleeping`, which the file had while its task waited for a person. */
async function wakeUp({ sessions }: EngineContext, { header }: Session): Promise<void> {
  if (header.status === 'sleeping') await sessions.setStatus(header.sessionId, 'active');
}

function noteEdit(context: EngineContext, task: Task, agent: Agent, session: string, edited: object | undefined): void {
  if (edited) record(context, 'session.edited', { task: task.id, agent: agent.name, session, ...edited });
}
