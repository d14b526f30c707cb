/** Walks through requests that wait for the person, and submits the answers. */
import type { Desk, OpenRequest } from '../../app/approvals.js';
import type { Answer } from '../../domain/task/approval.js';
import { asProblem } from '../../domain/problem.js';
import { askRequest, type Asking } from './ask-request.js';

export interface Walked {
  /** The roots of the tasks that were answered. */
  answered: string[];
  answeredIds: Set<string>;
  skipped: number;
  /** The person left before the end. */
  left: boolean;
}

/** How often it looks whether somebody else has answered. */
const ELSEWHERE_MS = 300;

/**
 * `isWanted`: which requests; default: all. Requests that arrive meanwhile follow. `seen`: gets the
 * requests that were shown. `closing`: aborted when the person is no longer asked.
 */
export async function walk(
  desk: Desk,
  { closing, ...asking }: Omit<Asking, 'signal'> & { closing?: AbortSignal },
  isWanted: (request: OpenRequest) => boolean = () => true,
  seen = new Set<string>(),
): Promise<Walked> {
  const walked: Walked = { answered: [], answeredIds: new Set(), skipped: 0, left: false };
  let shown = 0;
  for (;;) {
    const open = (await desk.look()).filter((request) => isWanted(request) && !seen.has(request.id));
    const request = open[0];
    if (request === undefined) return walked;
    seen.add(request.id);
    const all = open.length + shown++;
    const position = `${request.request.agent}${all > 1 ? ` (${shown} of ${all})` : ''}`;
    const given = await withoutOthers(desk, request, closing, (signal) =>
      askRequest(request, { ...asking, signal }, position),
    );
    asking.terminal.dock([]);
    if (closing?.aborted) return { ...walked, left: true };
    if (given === 'gone') asking.terminal.say(asking.terminal.dim('it was answered elsewhere'));
    else if (given === 'skip' || given === 'back') walked.skipped++;
    else if (given === 'interrupt' || given === 'end') return { ...walked, left: true };
    else {
      try {
        await desk.answer(request.id, request.seen, given.answer);
        walked.answered.push(request.root);
        walked.answeredIds.add(request.id);
        asking.terminal.say(asking.terminal.dim(outcome(request, given.answer)));
      } catch (error) {
        asking.terminal.problem(asProblem(error));
      }
    }
  }
}

function outcome(request: OpenRequest, { approved, text, edited, reason, always }: Omit<Answer, 'at'>): string {
  if (text !== undefined) return `answered: ${text}`;
  if (request.request.question) return 'declined';
  if (!approved) return `refused${reason === undefined ? '' : `: ${reason}`}`;
  if (always) return 'allowed, now and always';
  return edited === undefined ? 'allowed' : 'allowed as you changed it';
}

/** Stops asking when the request has been answered on another terminal or on the ballot. */
async function withoutOthers<T>(
  desk: Desk,
  { id }: OpenRequest,
  closing: AbortSignal | undefined,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const elsewhere = new AbortController();
  const timer = setInterval(() => {
    desk.isOpen(id).then(
      (isOpen) => isOpen || elsewhere.abort(),
      () => undefined,
    );
  }, ELSEWHERE_MS);
  try {
    return await ask(closing === undefined ? elsewhere.signal : AbortSignal.any([elsewhere.signal, closing]));
  } finally {
    clearInterval(timer);
  }
}
