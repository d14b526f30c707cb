/** Applies the human's answers: from the ballot, the command line or an intent. */
import { defined } from '../../domain/defined.js';
import { APPROVAL_ROLE, approvalOf, type Answer, type ApprovalRequest } from '../../domain/task/approval.js';
import { hash53, shortId } from '../../domain/task/id.js';
import { HUMAN, makeTask, type Task } from '../../domain/task/task.js';
import { record, type EngineContext, type Ports } from '../core/context.js';
import { underWay } from '../core/ready-queue.js';
import { admissionAgain, admit } from './admit-mail.js';
import { openApprovals } from './ballot-view.js';
import { sealed } from '../core/sealed.js';
import { isOwn, soundApproval, withDigest } from './request.js';

/**
 * False if no open approval has this id. The caller has checked an answer that carries a signature.
 * Any other answer was read by this process itself, which signs it for the person.
 */
export async function answerApproval(
  context: Ports,
  id: string,
  given: Omit<Answer, 'at'> | Answer,
  cause: string,
): Promise<boolean> {
  const claim = await context.tasks.claim(id, HUMAN);
  if (claim === undefined) return false;
  const answer = signed(context, claim.task, given);
  const { waits: _, ...task } = claim.task;
  const ended: Task = { ...task, result: JSON.stringify(answer), ended_at: answer.at };
  // before settling: a repetition after a crash creates nothing twice, and loses no rule
  await admit(context, ended);
  const rule = ruleIn(context, claim.task, answer);
  if (rule !== undefined) await context.gate.allowAlways(rule);
  await context.tasks.settle(claim, ended, 'completed');
  const { signature: _s, ...said } = answer;
  record(context, 'approval.answered', { task: id, cause, agent: HUMAN, ...said });
  if (answer.approved && rule === undefined) await learn(context, claim.task, answer);
  return true;
}

function signed({ clock, consent, desk }: Ports, task: Task, given: Omit<Answer, 'at'> | Answer): Answer {
  if ('at' in given) return given;
  const answer: Answer = defined({ ...given, at: clock.now().toISOString(), desk });
  const digest = approvalOf(task)?.request.digest;
  if (!answer.approved || digest === undefined) return answer;
  return { ...answer, signature: consent.sign({ task: task.id, digest, answer }) };
}

/**
 * Replaces open requests whose digest does not match their content: they come from an earlier build
 * or from elsewhere. The asker asks again; a request without an asker is made again here.
 */
export async function replaceUnsound(context: EngineContext): Promise<boolean> {
  // A refusal on the ballot still counts, so the ballot is read first.
  if (context.ballot.dueMs('read') !== undefined) return false;
  let moved = false;
  for (const { task } of underWay(context)) {
    const approval = approvalOf(task);
    if (approval === undefined) continue;
    if (soundApproval(task) !== undefined && isOwn(context.consent, approval)) continue;
    const claim = await context.tasks.claim(task.id, HUMAN);
    if (claim === undefined) continue;
    const { waits: _, ...now } = claim.task;
    if (now.parent === undefined && approval.request.tool !== ALLOW_TOOL) {
      const asked = (approval.request.asked ?? 1) + 1;
      const id = shortId(`${now.id}-again-${asked}`);
      const request = sealed(context, id, { ...withDigest(inOwnWords(approval.request)), asked });
      const again = { ...task, id, root: id, context: { ...task.context, request } };
      await context.tasks.create(admissionAgain(context, task, approval.request, { id, asked }) ?? again);
    }
    const at = context.clock.now().toISOString();
    await context.tasks.settle(
      claim,
      { ...now, result: JSON.stringify({ asked: 'again' }), ended_at: at },
      'completed',
    );
    moved = true;
  }
  return moved;
}

/** No asker can word the request again, so the program describes it as briefly as possible. */
function inOwnWords({ tool, diff: _, risk: _r, changed: _c, seal: _s, ...request }: ApprovalRequest): ApprovalRequest {
  return { ...request, tool, title: `Approve ${tool}`, reasons: ['the request came with the folder'] };
}

/** How many approvals of the same command lead to the proposal of a rule. */
const HABIT = 3;
const ALLOW_TOOL = 'allow_command';

/** The command line that runs without asking from now on, if the answer says so. */
function ruleIn(context: Ports, task: Task, answer: Answer): string | undefined {
  const approval = soundApproval(task);
  if (!answer.approved || approval === undefined || !isOwn(context.consent, approval)) return undefined;
  const { request } = approval;
  const line = lineOf(request, answer);
  if (request.tool === ALLOW_TOOL) return line;
  // Outside text may have led the person to approve, so no rule is made under its influence.
  return isPlain(request, answer) && answer.always === true && request.taint.length === 0 ? line : undefined;
}

function lineOf(request: ApprovalRequest, { edited }: Answer): string {
  return String({ ...request.arguments, ...edited }['command'] ?? '');
}

function isPlain(request: ApprovalRequest, { edited }: Answer): boolean {
  return request.tool === 'execute_command' && edited === undefined && request.hosts === undefined;
}

/**
 * Proposes a rule for a command that is approved repeatedly; the rule needs a separate approval.
 */
async function learn(context: Ports, task: Task, answer: Answer): Promise<void> {
  const request = soundApproval(task)?.request;
  if (request === undefined || !isPlain(request, answer)) return;
  const line = lineOf(request, answer);
  if ((await context.gate.noteAllowed(line)) !== HABIT) return;
  const title = `Always allow: ${line}`;
  const proposal = withDigest({
    title,
    tool: ALLOW_TOOL,
    arguments: { command: line },
    agent: request.agent,
    session: request.session,
    call: request.call,
    taint: request.taint,
    reasons: [
      `you approved this command ${HABIT} times; if you agree, exactly this command runs without asking from now on`,
    ],
    confinement:
      'by the program itself: it adds a rule to storage/terminal-cmd-allowlist.yaml, which you can remove there',
  });
  const id = `allow-${hash53(line)}`;
  const wanted = makeTask({
    id,
    role: APPROVAL_ROLE,
    to: HUMAN,
    description: title,
    context: { request: sealed(context, id, proposal) },
    created_at: answer.at,
    created_by: 'guildhall',
  });
  if (await context.tasks.create(wanted))
    record(context, 'task.created', { task: wanted.id, agent: HUMAN, cause: task.id });
}

/** Takes the answers on the ballot. True if there were any. */
export async function takeBallotAnswers(context: EngineContext): Promise<boolean> {
  const { ballot } = context;
  const open = [...underWay(context)].flatMap(({ task }) => approvalOf(task) ?? []);
  const { answers, withdrawn, problems } = ballot.read(open);
  const sound = new Set(openApprovals(context).map(({ id }) => id));
  for (const problem of problems) {
    context.watchers.problem(problem);
    record(context, 'ballot.refused', { problem });
  }
  let moved = false;
  for (const { id, answer } of answers)
    if (sound.has(id) || !answer.approved) moved = (await answerApproval(context, id, answer, 'ballot')) || moved;
  for (const id of withdrawn) {
    const refusal = { approved: false, by: HUMAN, reason: 'the human withdrew the request' };
    moved = (await answerApproval(context, id, refusal, 'ballot')) || moved;
  }
  return moved;
}
