/** `guild approve`, `guild reject`, `guild edit`: the same answers as marks on the ballot. */
import { randomBytes } from 'node:crypto';
import { openReader } from '../../../app/readers/open-reader.js';
import { approvalOf, mainArgument, type Answer, type Approval } from '../../../domain/task/approval.js';
import { problem, ProblemError } from '../../../domain/problem.js';
import { isEnded } from '../../../domain/task/task.js';
import { EXIT, type Call, type Command } from '../../args/command.js';
import { wrappedLines } from '../../render/layout.js';
import type { Terminal } from '../../render/terminal.js';
import { meantBy, unknownTask } from '../task/id.js';

type Store = ReturnType<typeof openReader>;

export const command: Command = {
  usage: [
    ['approve', 'list what waits for your decision; the exit code is 4 if anything does'],
    ['approve <id>…', 'allow actions exactly as shown'],
    ['reject <id> [reason]', 'refuse an action; the agent reads the reason'],
    ['edit <id> <new text>', 'allow a changed command, file content, message or plan; the agent is informed'],
  ],
  about: `
You can also edit tasks/approvals.task.md: [x] allows, [-] refuses, and deleting an entry refuses it, too. A running guild
watch acts at once, otherwise the next guild pump does.`,
  options: {
    'all-like': { type: 'string', value: 'ID', about: 'approve: every request of the same agent for the same action' },
  },
  run: (call) => answerBy('approve', call),
};

export async function answerBy(verb: 'approve' | 'reject' | 'edit', call: Call): Promise<number> {
  const store = openReader(call.root);
  await store.tasks.scan(true);
  const like = call.values['all-like'];
  const [first, ...rest] = call.words;
  if (verb === 'approve' && first === undefined && like === undefined) return list(store, call);
  const meant = (id: string): string => meantBy(id, call.root);
  const ids =
    typeof like === 'string'
      ? await alike(store, meant(like))
      : (verb === 'approve' ? call.words : [required(first, verb)]).map(meant);
  for (const id of ids) {
    const approval = await openApproval(store, id);
    await store.intents.submit({
      kind: 'answer',
      id: randomBytes(6).toString('hex'),
      task: id,
      answer: answerFor(verb, approval, rest.join(' ')),
      by: 'human',
      at: new Date().toISOString(),
    });
  }
  const working = (await store.presence.peers()).some((peer) => peer.id !== store.presence.peer.id);
  await store.close();
  if (call.json) call.terminal.json({ verb, ids });
  else
    call.terminal.say(
      `${ids.join(', ')}: ${working ? 'passed to the running guild' : 'saved; the next guild pump or guild watch acts on it'}`,
    );
  return EXIT.done;
}

async function list(store: Store, { terminal, json }: Call): Promise<number> {
  const open = openApprovals(store);
  if (json) {
    terminal.json(open);
    return open.length > 0 ? EXIT.waiting : EXIT.done;
  }
  for (const { id, title, request } of open) {
    terminal.out(
      `${terminal.bold(id)}  ${terminal.colour(request.risk === 'HIGH' ? 'red' : 'yellow', request.risk)}  @${request.agent}`,
    );
    const about = [
      ...request.reasons,
      `how it runs: ${request.confinement}`,
      ...(request.taint.length > 0 ? [`influenced by ${request.taint.join(', ')}`] : []),
    ];
    const shown = request.diff?.split('\n').map((line) => diffLine(line, terminal)) ?? contentOf(title, request);
    for (const text of [...title.split('\n'), ...about.map((line) => terminal.dim(line)), ...shown])
      for (const line of wrappedLines(`  ${text}`, terminal.width)) terminal.out(line);
  }
  if (open.length === 0) terminal.say('nothing waits for you');
  return open.length > 0 ? EXIT.waiting : EXIT.done;
}

/** The content of the action that its title does not show: a file, a plan, an answer. */
function contentOf(title: string, { tool, arguments: args }: Approval['request']): string[] {
  const main = mainArgument(tool);
  const text = main === undefined ? undefined : args[main];
  return typeof text === 'string' && !title.includes(text) ? text.trimEnd().split('\n') : [];
}

function diffLine(line: string, terminal: Terminal): string {
  if (line.startsWith('@@ ')) return terminal.dim(line);
  if (line.startsWith('+ ')) return terminal.colour('green', line);
  return line.startsWith('- ') ? terminal.colour('red', line) : line;
}

function openApprovals(store: Store): Approval[] {
  return [...store.tasks.open()].flatMap(({ task }) => approvalOf(task) ?? []);
}

/** Every open request for the same tool, by the same agent, with the same arguments. */
async function alike(store: Store, id: string): Promise<string[]> {
  const { request } = await openApproval(store, id);
  return openApprovals(store)
    .filter((approval) => approval.request.digest === request.digest)
    .map((approval) => approval.id);
}

async function openApproval(store: Store, id: string): Promise<Approval> {
  const placed = await store.tasks.read(id);
  if (placed === undefined) throw new ProblemError(unknownTask(id));
  const approval = approvalOf(placed.task);
  if (approval === undefined)
    throw new ProblemError(
      problem('bad_usage', `${id} is not an approval`, { hint: 'guild approve lists what waits for you' }),
    );
  if (isEnded(placed.state)) throw new ProblemError(problem('bad_usage', `${id} was already answered`));
  return approval;
}

function answerFor(verb: 'approve' | 'reject' | 'edit', { id, request }: Approval, text: string): Omit<Answer, 'at'> {
  if (verb === 'approve') return { approved: true, by: 'human' };
  if (verb === 'reject') return { approved: false, by: 'human', reason: text || undefined };
  const main = mainArgument(request.tool);
  if (main === undefined)
    throw new ProblemError(
      problem('bad_usage', `${request.tool} has no single text to edit`, {
        hint: `edit the entry ${id} in tasks/approvals.task.md`,
      }),
    );
  if (text === '') throw new ProblemError(problem('bad_usage', 'guild edit needs the new text'));
  return { approved: true, by: 'human', edited: { [main]: text } };
}

function required(id: string | undefined, verb: string): string {
  if (id !== undefined) return id;
  throw new ProblemError(
    problem('bad_usage', `guild ${verb} needs the id of an approval`, { hint: 'guild approve lists them' }),
  );
}
