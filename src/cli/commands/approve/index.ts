/** `guild approve`, `guild reject`, `guild edit`: the same answers as marks on the ballot. */
import { editedText, openDesk, type Desk, type OpenRequest } from '../../../app/approvals.js';
import { defined } from '../../../domain/defined.js';
import type { Answer } from '../../../domain/task/approval.js';
import { answerIn } from '../../../domain/task/question.js';
import { problem, ProblemError, problemError } from '../../../domain/problem.js';
import { visible } from '../../../domain/consent/visible.js';
import { EXIT, listOption, type Call, type Command } from '../../args/command.js';
import { canAsk, carryOnReleased } from '../../console/carry-on.js';
import { hasPerson, isYes } from '../../process/ask.js';
import { readAll } from '../../process/read-all.js';
import { requestLines } from '../../render/request.js';
import { meantBy } from '../task/id.js';

type Verb = 'approve' | 'reject' | 'edit' | 'answer';

export const command: Command = {
  usage: [
    ['approve', 'go through what waits for you, like guild inbox; in a pipe, list it'],
    ['approve <id>…', 'show each request and ask; a yes allows it exactly as shown'],
    ['reject <id> [reason]', 'refuse an action; the agent reads the reason'],
    ['edit <id> <new text>', 'allow a changed command, file content, message or plan; the agent is informed'],
    ['answer <id> <text>', "answer an agent's question; use - to read the answer from standard input"],
  ],
  about: `
You can also edit tasks/approvals.task.md: [x] allows, [-] refuses, and deleting an entry also refuses it. A running guild
watch acts at once. Without one, these commands continue the work themselves if they run on a terminal; otherwise the next
guild pump does.

Without a terminal there is nobody to ask: approve and edit then need --seen with the digest of the request that was looked
at. guild approve --json prints each request as it is shown, and this digest as "seen".`,
  options: {
    'all-like': { type: 'string', value: 'ID', about: 'approve: every request of the same agent for the same action' },
    seen: { type: 'string', value: 'DIGEST', multiple: true, about: 'the digest of each request that was seen' },
  },
  run: (call) => answerBy('approve', call),
};

const { usage, about } = command;
export const reject: Command = { usage, about, run: (call) => answerBy('reject', call) };
export const answer: Command = { usage, about, run: (call) => answerBy('answer', call) };
export const edit: Command = {
  usage,
  about,
  options: { seen: command.options!['seen']! },
  run: (call) => answerBy('edit', call),
};

async function answerBy(verb: Verb, call: Call): Promise<number> {
  const isList = call.words.length === 0 && call.values['all-like'] === undefined;
  if (isList && (verb === 'approve' || verb === 'answer')) return await (await import('./inbox.js')).goThrough(call);
  const desk = await openDesk(call.root, call.io.env);
  let given: { code: number; roots: string[] };
  try {
    given = await answerAt(desk, verb, call);
  } finally {
    await desk.close();
  }
  // Not earlier, because an open desk looks like a process that works on the task.
  if (canAsk(call)) await carryOnReleased(call, given.roots);
  return given.code;
}

/** Answers the requests that the command names. Returns the roots of those that were answered. */
async function answerAt(desk: Desk, verb: Verb, call: Call): Promise<{ code: number; roots: string[] }> {
  const like = call.values['all-like'];
  const [first, ...rest] = call.words;
  const meant = (id: string): string => meantBy(id, call.root);
  const wanted =
    typeof like === 'string'
      ? await alike(desk, meant(like))
      : await Promise.all(
          (verb === 'approve' ? call.words : [required(first, verb)]).map((id) => desk.find(meant(id))),
        );
  const answered: string[] = [];
  const agreed = new Set(listOption(call.values, 'seen'));
  const typed = rest.join(' ');
  const text = verb === 'answer' && typed === '-' ? await readAll(call.io.stdin) : typed;
  for (const request of wanted) {
    refuseMisfit(verb, request);
    if (verb === 'reject')
      await desk.answer(
        request.id,
        request.seen,
        defined({
          approved: false,
          by: 'human',
          reason: text || undefined,
        }),
      );
    else if (verb === 'answer') await desk.answer(request.id, request.seen, answerText(request, text));
    else {
      const answer = verb === 'edit' ? editedText(request, text) : { approved: true, by: 'human' };
      if (!(await isSeen(call, request, agreed, verb === 'edit' ? text : undefined))) continue;
      await desk.answer(request.id, request.seen, answer);
    }
    answered.push(request.id);
  }
  const code = await report(desk, call, verb, answered, wanted.length);
  return { code, roots: wanted.flatMap(({ id, root }) => (answered.includes(id) ? [root] : [])) };
}

/** The person sees it now and says yes, or names the digest of what was seen. */
async function isSeen(
  call: Call,
  request: OpenRequest,
  agreed: Set<string>,
  instead: string | undefined,
): Promise<boolean> {
  if (agreed.has(request.seen)) return true;
  const { id } = request;
  if (agreed.size > 0)
    throw problemError('not_allowed', `${id} is not the request that was seen: its digest is now ${request.seen}`, {
      hint: 'look at it again: guild approve --json shows every request and its digest',
    });
  if (call.json || !hasPerson(call.io))
    throw problemError('needs_human', `there is no terminal to show ${id} on, so nothing was allowed`, {
      hint: `look at it with guild approve --json, then: guild ${again(call, id, instead)} --seen ${request.seen}`,
    });
  for (const line of requestLines(request, call.terminal)) call.terminal.out(line);
  if (instead !== undefined) call.terminal.out(`  ${call.terminal.bold('your version')}: ${visible(instead)}`);
  if (await isYes(call.io, 'Allow this? y/N ')) {
    // The same request again, for --all-like, has the same digest.
    agreed.add(request.seen);
    return true;
  }
  call.terminal.say(`${id} still waits; guild reject ${id} refuses it`);
  return false;
}

/** The same command, for a person who has looked at the request elsewhere. */
function again({ values }: Call, id: string, instead: string | undefined): string {
  if (instead !== undefined) return `edit ${id} <new text>`;
  return values['all-like'] === undefined ? `approve ${id}` : `approve --all-like ${id}`;
}

async function report(desk: Desk, call: Call, verb: Verb, ids: string[], wanted: number): Promise<number> {
  const isWorking = await desk.isWorking();
  if (call.json) call.terminal.json({ verb, ids });
  else if (ids.length > 0 && !canAsk(call))
    call.terminal.say(
      `${ids.join(', ')}: ${isWorking ? 'passed to the running guild' : 'saved; the next guild pump or guild watch acts on it'}`,
    );
  return ids.length < wanted ? EXIT.waiting : EXIT.done;
}

/** Every open request for the same action of the same agent. */
async function alike(desk: Desk, id: string): Promise<OpenRequest[]> {
  const { seen } = await desk.find(id);
  return desk.list().filter((request) => request.seen === seen);
}

function refuseMisfit(verb: Verb, { id, request }: OpenRequest): void {
  if (verb === 'reject' || (request.question !== undefined) === (verb === 'answer')) return;
  throw new ProblemError(
    request.question
      ? problem('bad_usage', `${id} is a question; it needs an answer in words`, { hint: `guild answer ${id} <text>` })
      : problem('bad_usage', `${id} asks for approval, not for an answer`, {
          hint: `guild approve ${id}, or guild reject ${id}`,
        }),
  );
}

function answerText({ id, request }: OpenRequest, text: string): Omit<Answer, 'at'> {
  const given = answerIn(request.question!, text);
  if ('wrong' in given) throw problemError('bad_usage', given.wrong, { hint: `guild answer ${id} <text>` });
  return { approved: true, by: 'human', text: given.text };
}

function required(id: string | undefined, verb: string): string {
  if (id !== undefined) return id;
  throw problemError('bad_usage', `guild ${verb} needs the id of an approval`, { hint: 'guild approve lists them' });
}
