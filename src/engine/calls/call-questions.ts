/**
 * A call that cannot continue without the human: a server behind a plugin asks for something. The
 * question is a child, and the call runs again with all answers so far. Each part of the call is a
 * separate effect, so that none of them runs twice.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { ToolCall } from '../../domain/session/session.js';
import type { Placed, Task, WantedChild } from '../../domain/task/task.js';
import type { Tool, ToolContext, ToolReply } from '../../tools/core/tool.js';
import { consult, questionFor } from '../approvals/request.js';
import type { EngineContext } from '../core/context.js';
import { childResult } from './child-result.js';

/** The human must act. `placed`: the open request as it was read. */
interface ApprovalReply {
  kind: 'approval';
  child: WantedChild;
  placed: Placed | undefined;
}

export type RanReply = Exclude<ToolReply, { kind: 'question' }> | ApprovalReply;

const MAX_QUESTIONS = 20;

/** `run`: one part of the call, with the answers so far. */
export async function runWithAnswers(
  context: EngineContext,
  { task, agent, call, tool }: { task: Task; agent: Agent; call: ToolCall; tool: Tool },
  run: (answers: ToolContext['answers'], part: string) => Promise<ToolReply>,
): Promise<RanReply> {
  const answers: (string | undefined)[] = [];
  while (answers.length <= MAX_QUESTIONS) {
    const n = answers.length;
    const reply = await run(answers, n === 0 ? `call-${call.id}` : `call-${call.id}-${n}`);
    if (reply.kind !== 'question') return reply;
    const wanted = questionFor(task, agent, call, reply.question, {
      part: `ask-${call.id}-${n + 1}`,
      asker: `${tool.plugin ?? 'the program'} (${call.name}, called by ${agent.name})`,
      confinement: `your answer goes to ${tool.plugin ?? 'the program'}, which continues with it`,
      reasons: [`${call.name} asks while it runs; the words are not ${agent.name}'s`],
    });
    const { child, placed, answer } = await consult(context, wanted);
    if (answer.kind === 'open') return { kind: 'approval', child, placed };
    const given = placed === undefined ? undefined : childResult(placed);
    answers.push(given?.isError === false ? given.text : undefined);
  }
  const message = `${call.name} asked the human more than ${MAX_QUESTIONS} questions in one call`;
  return { kind: 'problem', code: 'over_limit', message };
}
