/** Applies the human's answers: from the ballot, the command line or an intent. */
import { APPROVAL_ROLE, approvalOf, type Answer, type ApprovalRequest } from '../../domain/task/approval.js';
import { hash53 } from '../../domain/task/id.js';
import { HUMAN, makeTask, type Task } from '../../domain/task/task.js';
import { record, type EngineContext, type Ports } from '../core/context.js';
import { admit } from './admit-mail.js';
import { openApprovals } from './ballot-view.js';
import { digestOf } from './request.js';

/** False if no open approval has this id. */
export async function answerApproval(
  context: Ports,
  id: string,
  given: Omit<Answer, 'at'>,
  cause: string,
): Promise<boolean> {
  const claim = await context.tasks.claim(id, HUMAN);
  if (claim === undefined) return false;
  const answer: Answer = { ...given, at: context.clock.now().toISOString() };
  const { waits: _, ...task } = claim.task;
  const ended: Task = { ...task, result: JSON.stringify(answer), ended_at: answer.at };
  // before settling: answering again after a crash creates nothing twice
  await admit(context, ended);
  await context.tasks.settle(claim, ended, 'completed');
  record(context, 'approval.answered', { task: id, cause, agent: HUMAN, ...answer });
  if (answer.approved) await learn(context, claim.task, answer);
  return true;
}

/** How many approvals of the same command lead to the proposal of a rule. */
const HABIT = 3;

/**
 * Proposes a rule for a command that is approved repeatedly; the rule needs an approval of its own.
 */
async function learn(context: Ports, task: Task, answer: Answer): Promise<void> {
  const request = approvalOf(task)?.request;
  if (request === undefined) return;
  const line = String({ ...request.arguments, ...answer.edited }['command'] ?? '');
  if (request.tool === 'allow_command') return context.gate.allowAlways(line);
  const isPlain =
    request.tool === 'execute_command' && answer.edited === undefined && request.arguments['network'] !== true;
  if (!isPlain || (await context.gate.noteAllowed(line)) !== HABIT) return;
  const proposal: ApprovalRequest = {
    ...request,
    tool: 'allow_command',
    arguments: { command: line },
    digest: digestOf('allow_command', { command: line }, request.agent),
    reasons: [
      `you approved this command ${HABIT} times; if you agree, exactly this command runs without asking from now on`,
    ],
    confinement:
      'by the program itself: it adds a rule to storage/terminal-cmd-allowlist.yaml, which you can remove there',
  };
  const wanted = makeTask({
    id: `allow-${hash53(line)}`,
    role: APPROVAL_ROLE,
    to: HUMAN,
    description: `Always allow: ${line}`,
    context: { request: proposal },
    created_at: answer.at,
    created_by: 'guildhall',
  });
  if (await context.tasks.create(wanted))
    record(context, 'task.created', { task: wanted.id, agent: HUMAN, cause: task.id });
}

/** Takes the answers on the ballot. True if there were any. */
export async function takeBallotAnswers(context: EngineContext): Promise<boolean> {
  const { ballot } = context;
  const { answers, withdrawn, problems } = ballot.read(openApprovals(context));
  for (const problem of problems) {
    context.watchers.problem(problem);
    record(context, 'ballot.refused', { problem });
  }
  let moved = false;
  for (const { id, answer } of answers) moved = (await answerApproval(context, id, answer, 'ballot')) || moved;
  for (const id of withdrawn) {
    const refusal = { approved: false, by: HUMAN, reason: 'the human withdrew the request' };
    moved = (await answerApproval(context, id, refusal, 'ballot')) || moved;
  }
  return moved;
}
