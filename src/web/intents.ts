/**
 * The only write route. Every act of the page is an intent that the command line has, too. An
 * intent names the state on the screen: if that has changed, nothing is done and both versions are
 * shown.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { isMapping } from '../domain/mapping.js';
import { editedText, openDesk, type OpenRequest } from '../app/approvals.js';
import { editMessage } from '../app/editing/edit-message.js';
import { forkSession } from '../app/fork-session.js';
import { newTask } from '../app/new-task.js';
import { pauseAgent, resumeAgent } from '../app/pause.js';
import { openNotes } from '../app/readers/open-notes.js';
import { openReader } from '../app/readers/open-reader.js';
import { saveAsPerson } from '../app/editing/save-as-person.js';
import { whyNoRule } from '../app/trust/no-rule.js';
import { undoTo } from '../app/undo.js';
import { newAgentFile, writeAgent } from '../app/editing/write-agent.js';
import { defined } from '../domain/defined.js';
import type { Answer } from '../domain/task/approval.js';
import { answerIn } from '../domain/task/question.js';
import { isSafeId } from '../domain/task/id.js';
import { problem, ProblemError } from '../domain/problem.js';
import { INTENT_KINDS, type IntentBody, type IntentDone, type IntentKind } from './base/contract.js';
import { agentFile } from './reads/agents.js';
import { boardText, withBox } from './reads/files.js';
import { sessionFile } from './base/sessions.js';
import { seenOf, textOf } from './reads/session.js';

type Store = ReturnType<typeof openReader>;
type Env = Record<string, string | undefined>;

/** The screen was out of date. Nothing was done. */
export class Stale extends Error {
  readonly theirs: string | undefined;
  readonly seen: string | undefined;
  /** `theirs`: the text as it is now. `seen`: the digest that the next intent about it names. */
  constructor(message: string, theirs?: string, seen = theirs === undefined ? undefined : seenOf(theirs)) {
    super(message);
    this.theirs = theirs;
    this.seen = seen;
  }
}

interface Asked {
  root: string;
  env: Env;
  store: Store;
  target: string;
  seen: string | undefined;
  args: Record<string, unknown>;
}

const KEYS_MAX = 1000;

/** An intent whose key came before is not done again: it gets the same answer. */
export function intents(root: string, env: Env): (body: unknown) => Promise<IntentDone> {
  const done = new Map<string, Promise<IntentDone>>();
  return (body) => {
    const intent = read(body);
    const before = done.get(intent.key);
    if (before !== undefined) return before;
    const result = act(root, env, intent);
    done.set(intent.key, result);
    result.catch(() => done.delete(intent.key));
    for (const oldest of [...done.keys()].slice(0, -KEYS_MAX)) done.delete(oldest);
    return result;
  };
}

function read(body: unknown): IntentBody {
  const { key, kind, target, seen, args = {} } = (body ?? {}) as Partial<IntentBody>;
  const isKnown = (INTENT_KINDS as readonly unknown[]).includes(kind);
  if (typeof key !== 'string' || key.length < 8 || key.length > 100) throw bad('an intent needs a key');
  if (!isKnown) throw bad(`unknown intent ${JSON.stringify(kind)}`);
  if (typeof target !== 'string' || target.length > 1000 || target.includes('\0'))
    throw bad('an intent needs a target');
  if (seen !== undefined && typeof seen !== 'string') throw bad('`seen` is a text');
  if (!isMapping(args)) throw bad('`args` is an object');
  return defined({ key, kind: kind!, target, args, seen });
}

async function act(root: string, env: Env, { kind, target, seen, args = {} }: IntentBody): Promise<IntentDone> {
  const store = openReader(root);
  try {
    await store.tasks.scan(true);
    const made = await ACTS[kind]({ root, env, store, target, seen, args });
    return defined<IntentDone>({ done: true, made: made || undefined });
  } finally {
    await store.close();
  }
}

type Act = (asked: Asked) => Promise<IntentDone['made'] | void>;

const ACTS: Record<IntentKind, Act> = {
  'request.approve': async (asked) =>
    answer(asked, () => ({ approved: true, by: 'human' }), asked.args['alike'] === true),
  'request.reject': async (asked) => {
    const reason = text(asked, 'reason').trim();
    return answer(asked, () => defined({ approved: false, by: 'human', reason: reason === '' ? undefined : reason }));
  },
  'request.edit': async (asked) => answer(asked, (request) => editedText(request, text(asked, 'text'))),
  'request.always': async (asked) =>
    answer(asked, ({ request }) => {
      const why = whyNoRule(request);
      if (why !== undefined) throw bad(`no rule can be made of this request: ${why}`);
      return { approved: true, by: 'human', always: true };
    }),
  'request.answer': async (asked) =>
    answer(asked, ({ request: { question } }) => {
      if (question === undefined) throw bad('this request is not a question');
      const given = answerIn(question, text(asked, 'text'));
      if ('wrong' in given) throw bad(given.wrong);
      return { approved: true, by: 'human', text: given.text };
    }),
  async 'task.add'(asked) {
    const to = text(asked, 'to');
    const description = text(asked, 'description');
    const task = await newTask(asked.store, { description, to: to === '' ? undefined : to });
    return { task: task.id };
  },
  'task.tell': (asked) => submit(asked, (base) => ({ ...base, kind: 'tell', text: needed(asked, 'text') })),
  'task.stop': (asked) => submit(asked, (base) => ({ ...base, kind: 'stop' })),
  'task.retry': (asked) => submit(asked, (base) => ({ ...base, kind: 'retry' })),
  'task.cancel': (asked) => {
    const reason = text(asked, 'reason').trim();
    return submit(asked, (base) => ({ ...base, kind: 'cancel', ...(reason === '' ? {} : { reason }) }));
  },
  async 'task.fork'({ root, target, args }) {
    const { at, text: message, to } = args;
    const forked = await forkSession(root, {
      session: target,
      at: typeof at === 'number' ? at : undefined,
      text: typeof message === 'string' && message !== '' ? message : undefined,
      to: typeof to === 'string' && to !== '' ? to : undefined,
    });
    return { task: forked.task.id, session: forked.session };
  },
  async 'session.edit'(asked) {
    const { root, target, seen, args } = asked;
    const n = Number(args['n']);
    const isSeen = (now: string): boolean => seen === seenOf(now);
    if (await editMessage(root, { session: target, n, text: needed(asked, 'text'), seen: isSeen })) return;
    const file = textOf(path.join(root, sessionFile(target)));
    const opened = await asked.store.sessions.open(target);
    const now = opened.kind === 'open' ? opened.session.messages[n - 1]?.content : undefined;
    throw new Stale('the conversation was changed meanwhile', now ?? file, seenOf(file));
  },
  async 'agent.write'(asked) {
    const { root, env, target, seen } = asked;
    const known = seen === undefined ? undefined : agentFile(root, target, env);
    if (known !== undefined && known.seen !== seen) throw new Stale('the file was changed meanwhile', known.text);
    const file = known?.file ?? newAgentFile(target);
    if (await writeAgent(root, file, known?.text, needed(asked, 'text'))) return;
    const now = textOf(path.join(root, file));
    throw new Stale(
      known === undefined ? 'an agent with this name already exists' : 'the file was changed meanwhile',
      now,
    );
  },
  async 'board.set'(asked) {
    const { root, target, seen, args } = asked;
    const { text: now } = boardText(root, target);
    if (seen !== seenOf(now)) throw new Stale('the board was changed meanwhile', now);
    const after = withBox(now, Number(args['line']), needed(asked, 'box'));
    if (after === undefined) throw bad('there is no box on that line');
    if (!(await saveAsPerson(root, target, now, after)))
      throw new Stale('the board was changed meanwhile', boardText(root, target).text);
  },
  async 'agent.pause'(asked) {
    await pauseAgent(asked.root, agentName(asked), text(asked, 'reason'));
  },
  async 'agent.resume'(asked) {
    await resumeAgent(asked.root, agentName(asked));
  },
  async 'note.tell'(asked) {
    const notes = await openNotes(asked.root, asked.env);
    try {
      const fault = await notes.tell(asked.target, needed(asked, 'text'));
      if (fault !== undefined) throw new ProblemError(fault);
    } finally {
      await notes.close();
    }
  },
  async 'history.undo'({ root, env, target, args }) {
    await undoTo(root, target, env, { really: true, force: args['force'] === true });
  },
};

/**
 * Answers an open request, if it is still the one that was on the screen. `alike`: also all other
 * requests for exactly the same action, which have the same digest.
 */
async function answer(
  { root, env, target, seen }: Asked,
  decide: (request: OpenRequest) => Omit<Answer, 'at'>,
  alike = false,
): Promise<void> {
  const desk = await openDesk(root, env);
  try {
    const open = desk.list();
    const request = open.find(({ id }) => id === target);
    if (request === undefined) throw new Stale('this request was answered meanwhile');
    if (request.seen !== seen) throw new Stale('this request is not the one that was on the screen');
    const isQuestion = request.request.question !== undefined;
    const given = decide(request);
    if (isQuestion && given.approved && given.text === undefined) throw bad('a question needs an answer in words');
    const all = alike ? open.filter((each) => each.seen === seen) : [request];
    for (const each of all) await desk.answer(each.id, each.seen, decide(each));
  } finally {
    await desk.close();
  }
}

async function submit(
  { store, target }: Asked,
  make: (base: { id: string; task: string; by: string; at: string }) => Parameters<Store['intents']['submit']>[0],
): Promise<void> {
  if ((await store.tasks.read(target)) === undefined)
    throw new ProblemError(problem('not_found', `there is no task ${target}`));
  const id = randomBytes(6).toString('hex');
  await store.intents.submit(make({ id, task: target, by: 'human', at: new Date().toISOString() }));
}

function agentName({ target }: Asked): string {
  if (isSafeId(target)) return target;
  throw bad('that cannot be the name of an agent');
}

function text({ args }: Asked, name: string): string {
  const value = args[name];
  if (value !== undefined && typeof value !== 'string') throw bad(`${name} is a text`);
  return value ?? '';
}

function needed(asked: Asked, name: string): string {
  const value = text(asked, name);
  if (value.trim() === '') throw bad(`${name} is missing`);
  return value;
}

function bad(message: string): ProblemError {
  return new ProblemError(problem('bad_usage', message));
}
