/**
 * Requests that wait for a person, and the way to answer them. Every surface that answers uses this
 * file: it draws a request with `draw`, and an answer names the digest of the drawn text.
 */
import type { Env } from '../domain/config/env.js';
import { parseMapping } from '../domain/mapping.js';
import { randomBytes } from 'node:crypto';
import { attempt } from '../domain/attempt.js';
import { deskName } from '../adapters/machine/desk-name.js';
import { draw, type Drawn } from '../domain/consent/draw.js';
import { mainArgument, type Answer, type Approval } from '../domain/task/approval.js';
import { compareText } from '../domain/order.js';
import { problem, type Problem, ProblemError, problemError } from '../domain/problem.js';
import { isEnded, type Task } from '../domain/task/task.js';
import { isOwn, soundApproval } from '../engine/approvals/request.js';
import type { Consent } from '../ports/consent/index.js';
import type { Store } from '../ports/store/index.js';
import { ASKED_AGAIN, inOwnWords, isRequest, NOT_MADE_HERE, type InOwnWords } from '../views/own-words.js';
import { summary } from '../views/summary.js';
import { farPartsOf, openReader } from './readers/open-reader.js';
import { consentFor, lookAtTrust } from './trust/trust.js';

/** A request as every surface shows it. `seen`: the digest that an answer has to name. */
export interface OpenRequest extends Approval {
  shown: Drawn;
  seen: string;
  root: string;
  /** The task that asks, in one line. */
  purpose?: string;
}

export interface Desk {
  /** The requests that nobody had answered at the last look, the oldest first. */
  list(): OpenRequest[];
  /** Looks again, then returns the requests as `list` does. */
  look(): Promise<OpenRequest[]>;
  /** Whether nobody has answered it yet. */
  isOpen(id: string): Promise<boolean>;
  /**
   * How many open requests, as of the last look, were not made on this machine. Nobody is shown
   * their words: a process that works here asks again in the program's own words.
   */
  foreign(): number;
  find(id: string): Promise<OpenRequest>;
  /** Signs and submits. Durable when resolved. `seen`: the digest of what the person saw. */
  answer(id: string, seen: string, answer: Omit<Answer, 'at'>): Promise<void>;
  /** Whether a process is running that will act on it. */
  isWorking(): Promise<boolean>;
  close(): Promise<void>;
}

/** `shared`: the store of this process, which it scans and closes itself. */
export async function openDesk(root: string, env: Env, shared?: Store): Promise<Desk> {
  const consent = consentFor(lookAtTrust(root, env).record, env);
  const store = shared ?? openReader(root, env);
  if (shared === undefined) await store.tasks.scan(true);
  const isFar = farPartsOf(store) !== undefined;
  const ownApproval = ownRequests(consent, isFar);
  let answered = await answeredRequests(store, consent);
  const desk: Desk = {
    list: () =>
      [...store.tasks.open()]
        .sort((a, b) => compareText(a.task.created_at, b.task.created_at) || compareText(a.task.id, b.task.id))
        .flatMap(({ task }) => {
          const approval = ownApproval(task);
          return approval === undefined || answered.has(task.id) ? [] : [asRequest(approval, task)];
        }),
    async look() {
      if (shared === undefined) await store.tasks.scan();
      answered = await answeredRequests(store, consent);
      return desk.list();
    },
    foreign: () =>
      [...store.tasks.open()].filter(
        ({ task }) => isRequest(task) && !answered.has(task.id) && ownApproval(task) === undefined,
      ).length,
    async isOpen(id) {
      const placed = await store.tasks.read(id);
      return placed !== undefined && !isEnded(placed.state) && !(await answeredRequests(store, consent)).has(id);
    },
    async find(id) {
      const placed = await store.tasks.read(id);
      if (placed === undefined)
        throw problemError('not_found', `there is no task ${id}`, { hint: 'guild approve lists what waits for you' });
      const approval = ownApproval(placed.task);
      if (approval === undefined && isRequest(placed.task) && !isEnded(placed.state))
        throw problemError('not_allowed', `${id} was not made on this machine, so it is not shown`, {
          hint: ASKED_AGAIN,
        });
      if (approval === undefined)
        throw problemError('bad_usage', `${id} is not a request that waits for you`, {
          hint: 'guild approve lists what waits for you',
        });
      if (isEnded(placed.state)) throw new ProblemError(answeredBefore(placed.task));
      return asRequest(approval, placed.task);
    },
    async answer(id, seen, answer) {
      const request = await desk.find(id);
      if (request.seen !== seen) throw new ProblemError(changed(id));
      const at = new Date().toISOString();
      const given: Answer = { ...answer, at, ...(isFar ? { desk: deskName() } : {}) };
      if (given.approved) given.signature = consent.sign({ task: id, digest: seen, answer: given });
      const intent = { kind: 'answer' as const, id: randomBytes(6).toString('hex'), task: id, seen, by: 'human', at };
      await store.intents.submit({ ...intent, answer: given });
    },
    isWorking: async () => (await store.presence.peers()).some(({ id }) => id !== store.presence.peer.id),
    close: async () => (shared === undefined ? store.close() : undefined),
  };
  return desk;

  function asRequest(approval: DrawnApproval, { root: rootId, parent }: Task): OpenRequest {
    const asking = parent === undefined ? undefined : store.tasks.getOpen(parent)?.task;
    const request = { ...approval, root: rootId, shown: draw(approval), seen: approval.request.digest };
    return asking === undefined ? request : { ...request, purpose: summary(asking) };
  }
}

type DrawnApproval = Parameters<typeof draw>[0] & Approval;

export type OwnRequests = (task: Task) => DrawnApproval | undefined;

/**
 * The request in a task, if this machine made it. `isFar`: other machines of a shared store ask
 * too. Their keys are not known here, so their requests are drawn as theirs.
 */
export function ownRequests(consent: Consent, isFar: boolean): OwnRequests {
  const known = new WeakMap<Task, { approval: DrawnApproval | undefined }>();
  const look = (task: Task): DrawnApproval | undefined => {
    const sound = soundApproval(task);
    if (sound === undefined || isOwn(consent, sound)) return sound;
    if (!isFar) return undefined;
    const { machine } = task.context;
    return { ...sound, elsewhere: typeof machine === 'string' ? machine : 'another machine' };
  };
  return (task) => {
    const before = known.get(task) ?? { approval: look(task) };
    known.set(task, before);
    return before.approval;
  };
}

export type Announce = (task: Task) => { from?: string | undefined; title: string };

/**
 * A task in one line, to tell a person that it waits. A request has the words that this machine has
 * sealed, because the description in its record may have come with the folder.
 */
export function announcer(own: OwnRequests): Announce {
  return (task) => {
    if (!isRequest(task)) return { from: task.from, title: summary(task) };
    const request = own(task);
    if (request === undefined) return { title: NOT_MADE_HERE };
    return { from: request.request.agent || task.from, title: request.title };
  };
}

/** Like `ownRequests`, for a surface that only reads. If trust cannot be read, it draws none. */
export function readOwnRequests(root: string, env: Env, isFar: boolean): OwnRequests {
  let known: OwnRequests | undefined;
  const read = (): OwnRequests => ownRequests(consentFor(lookAtTrust(root, env).record, env), isFar);
  return (task) => (known ??= attempt(read))?.(task);
}

/** `isFar`: other machines of a shared store ask too. */
export function wordsAt(root: string, env: Env): (isFar: boolean) => InOwnWords {
  return (isFar) => inOwnWords(readOwnRequests(root, env, isFar));
}

/** A store for surfaces that show tasks and answer none: requests have our own words. */
export function openShown(root: string, env: Env): Store {
  const store = openReader(root, env);
  const shown = wordsAt(root, env)(farPartsOf(store) !== undefined);
  const { tasks } = store;
  return {
    ...store,
    tasks: {
      ...tasks,
      *open() {
        for (const placed of tasks.open()) yield shown(placed);
      },
      getOpen(id) {
        const placed = tasks.getOpen(id);
        return placed && shown(placed);
      },
      async read(id, options) {
        const placed = await tasks.read(id, options);
        return placed && shown(placed);
      },
      ended: async (wanted) => (await tasks.ended(wanted)).map(shown),
    },
  };
}

/** Requests with an answer that counts and that no process has taken in yet. */
async function answeredRequests({ intents }: Store, consent: Consent): Promise<Set<string>> {
  return new Set(
    (await intents.list()).flatMap((intent) => {
      if (intent.kind !== 'answer') return [];
      const { task, seen, answer } = intent;
      const counts = !answer.approved || consent.isSigned({ task, digest: seen, answer }, answer.signature);
      return counts ? [task] : [];
    }),
  );
}

/** Several people may have seen the same request; the first answer counts. */
function answeredBefore({ id, result = '' }: Task): Problem {
  const answer = answerIn(result);
  if (answer === undefined) return problem('bad_usage', `${id} was already answered`);
  const { approved, text, desk, at, reason } = answer;
  const why = reason === undefined ? '' : `: ${reason}`;
  const how = text !== undefined ? 'answered' : approved ? 'approved' : 'rejected';
  return problem('bad_usage', `${id} was already ${how}${desk === undefined ? '' : ` by ${desk}`} at ${at}${why}`, {
    hint: `guild why ${id} shows what followed`,
  });
}

function answerIn(result: string): Partial<Answer> | undefined {
  const answer = parseMapping(result);
  return answer !== undefined && 'approved' in answer ? answer : undefined;
}

function changed(id: string) {
  return problem('not_allowed', `${id} has changed since it was seen`, {
    hint: `look at it again: guild approve --json shows it and its digest`,
  });
}

/** A person's own version of the text that a request is about. */
export function editedText({ id, request }: Approval, text: string): Omit<Answer, 'at'> {
  const main = mainArgument(request.tool);
  if (main === undefined)
    throw problemError('bad_usage', `${request.tool} has no single text to edit`, {
      hint: `edit the entry ${id} in tasks/approvals.task.md`,
    });
  if (text === '') throw problemError('bad_usage', 'guild edit needs the new text');
  return { approved: true, by: 'human', edited: { [main]: text } };
}
