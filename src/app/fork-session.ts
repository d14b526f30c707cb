/**
 * Forks a conversation at one of its messages: creates a new task whose session starts with a copy.
 * The copied messages cost no model calls, and the original session is unchanged.
 */
import { randomBytes } from 'node:crypto';
import type { Agent } from '../domain/agent/agent.js';
import { defined } from '../domain/defined.js';
import { cutAt, keptMessages } from '../domain/session/fork.js';
import { childId } from '../domain/task/id.js';
import { nearestHint, noAgent } from '../domain/nearest.js';
import { problem, type Problem, ProblemError, problemError } from '../domain/problem.js';
import { wantsAnswer, type Message, type SessionHeader } from '../domain/session/session.js';
import type { Task } from '../domain/task/task.js';
import type { Store } from '../ports/store/index.js';
import { recordedTaint } from '../engine/conversation/taint.js';
import { isLeaf } from '../rules/patterns/decide.js';
import { newTask } from './new-task.js';
import { openReader } from './readers/open-reader.js';
import { openRoster } from './readers/open-roster.js';

interface Fork {
  /** The conversation, or the task whose conversation it is. */
  session: string;
  at?: number;
  /** The agent that continues; default: the same. */
  to?: string;
  text?: string;
  /** Files of the workspace that the agent gets with it. */
  attachments?: string[] | undefined;
  id?: string;
}

interface Forked {
  task: Task;
  session: string;
  /** The conversation that was copied. */
  from: string;
  kept: number;
  /** The requested place was between a tool call and its result, so an earlier one was used. */
  moved: boolean;
}

export async function forkSession(root: string, fork: Fork): Promise<Forked> {
  const store = openReader(root);
  try {
    return await forkIn(store, root, fork);
  } finally {
    await store.close();
  }
}

async function forkIn(store: Store, root: string, wishes: Fork): Promise<Forked> {
  const { session: named, at, to, text, attachments, id } = wishes;
  const isSession = (await store.sessions.open(named)).kind !== 'missing';
  const from = isSession ? named : ((await taskSession(store, named)) ?? named);
  const opened = await store.sessions.open(from);
  if (opened.kind === 'missing') throw new ProblemError(await unknownSession(store, from));
  if (opened.kind === 'held') throw new ProblemError(opened.problem);
  const { header, messages } = opened.session;
  const wanted = at ?? messages.length;
  if (wanted < 1 || wanted > messages.length)
    throw problemError('bad_usage', `${from} has ${messages.length} messages; --at must be 1 to ${messages.length}`);
  const agent = agentFor(root, header, to);
  const kept = cutAt(messages, wanted);
  if (kept === undefined)
    throw problemError(
      'bad_usage',
      `${from} cannot be cut there: every place up to it is between a tool call and its result`,
    );
  const beginning = keptMessages(messages, kept);
  if (text === undefined && !wantsAnswer(beginning))
    throw problemError('bad_usage', `message ${kept} of ${from} is an answer, so nothing would happen`, {
      hint: 'add a message, as in guild fork … "and now this", or cut earlier',
    });
  const name = id ?? `fork_${randomBytes(5).toString('hex').slice(0, 8)}`;
  if ((await store.tasks.read(name)) !== undefined) throw problemError('duplicate', `a task ${name} already exists`);
  const sessionId = `${agent.name}-${name}`;
  const now = new Date();
  // The session is created first: a task without its session would start from the beginning. An
  // agent with a pattern talks in its work stage.
  const speaker = isLeaf({ role: 'root' }, agent) ? name : childId(name, 'work');
  const copy = copied(beginning, header, agent.name, text === undefined ? undefined : (header.task ?? from));
  const made = await store.sessions.create(
    forkHeader(header, agent.name, sessionId, speaker, `${from}@${kept}`, now),
    copy,
  );
  if (!made) throw problemError('duplicate', `a session ${sessionId} already exists`);
  const first = messages.find((message) => message.role === 'user')?.content ?? `go on from ${from}`;
  const description = text ?? first;
  // The taint of the original is copied, because the copy does not have the tasks of the original.
  const taint = await recordedTaint(store.tasks, { header, messages: beginning });
  const context = { forked_from: { session: from, at: kept }, ...(taint.length > 0 ? { taint } : {}) };
  const fork = { id: name, description, to: agent.name, session: sessionId, attachments, context };
  const task = await newTask(store, fork, { at: now });
  return { task, session: sessionId, from, kept, moved: kept !== wanted };
}

/**
 * The messages of the copy. With an owner they belong to the tasks of the original, and the new
 * task begins after them with its own message and files; without one it continues with the last.
 */
function copied(messages: readonly Message[], { agentId }: SessionHeader, agent: string, owner?: string): Message[] {
  return messages.map(({ task, definition, pins, ...message }, at) => ({
    ...message,
    ...(agent === agentId ? defined({ definition, pins }) : {}),
    ...(owner === undefined ? {} : defined({ task: at === 0 ? (task ?? owner) : task })),
  }));
}

/** The conversation of a task. An agent with a pattern talks in the work stage of its task. */
async function taskSession({ tasks }: Store, id: string): Promise<string | undefined> {
  const placed = await tasks.read(id);
  return placed?.task.session ?? (await tasks.read(childId(id, 'work')))?.task.session;
}

/**
 * Another agent continues with its own file and model; the same agent with those that the session
 * started with.
 */
function forkHeader(
  { agentType, model, definition, pins, agentId }: SessionHeader,
  agent: string,
  sessionId: string,
  task: string,
  forkedFrom: string,
  now: Date,
): SessionHeader {
  const same = agent === agentId ? { agentType, model, definition, pins } : {};
  const known = Object.fromEntries(Object.entries(same).filter(([, value]) => value !== undefined));
  return { sessionId, agentId: agent, ...known, created: now.toISOString(), status: 'active', task, forkedFrom };
}

function agentFor(root: string, header: SessionHeader, to: string | undefined): Agent {
  const name = to ?? header.agentId;
  const { agents } = openRoster(root);
  const agent = agents.get(name);
  if (agent !== undefined) return agent;
  throw problemError('unknown_agent', noAgent(name, agents.keys()));
}

async function unknownSession(store: Store, id: string): Promise<Problem> {
  const known = await store.sessions.list();
  return problem('not_found', `there is no session ${id}`, {
    hint: nearestHint(id, known, known.length > 0 ? `for example ${known.at(-1)}` : 'no agent has talked here yet')!,
  });
}
