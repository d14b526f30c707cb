/**
 * Whether an answer in plain text ends the task. An agent that has final_report must end with it, a
 * tool call written as text is not an answer, and an agent that declares its output must answer in
 * that form. Each gets one reminder; after that the task fails and keeps the text.
 */
import { problem } from '../../../domain/problem.js';
import { lastThatMatters, type MessageKind } from '../../../domain/session/session.js';
import { roleFacts } from '../../../domain/task/role.js';
import { callAsText } from '../../../rules/patterns/call-as-text.js';
import { readAnswer } from '../../../tools/core/answer.js';
import { failure } from './failure.js';
import { controlMessage, type Step, type Talk } from './step.js';

const REMINDERS: ReadonlySet<MessageKind | undefined> = new Set<MessageKind>([
  'report_reminder',
  'call_as_text_reminder',
  'format_reminder',
]);

/** Undefined if the text is an answer. */
export function plainAnswerStep(talk: Talk, text: string): Step | undefined {
  const { task, agent, messages, tools } = talk;
  // The last turn may not call tools, so its text is the answer.
  if (lastThatMatters(messages.slice(0, -1))?.kind === 'last_turn') return undefined;
  const tool = callAsText(text, tools);
  const { answersInText } = roleFacts(task.role);
  const mustReport = tools.includes('final_report') && !answersInText;
  const wrong = mustReport || answersInText ? undefined : formatFault(agent, text);
  if (tool === undefined && !mustReport && wrong === undefined) return undefined;
  const attempt = messages.slice(messages.findLastIndex((message) => message.kind === 'retry') + 1);
  if (attempt.some((message) => REMINDERS.has(message.kind))) {
    const what =
      tool !== undefined
        ? `wrote a call of ${tool} as text after a reminder instead of making a call`
        : wrong !== undefined
          ? `gave an answer that does not fit its "output" after a reminder: ${wrong}`
          : 'answered in text after a reminder instead of making a call';
    const why = problem('model_failed', `${agent.name} ${what}`, {
      hint: `read what it said with guild task show ${task.id}; a model that is good at calling tools may do better`,
    });
    return failure(talk, why, text);
  }
  const reminder =
    tool !== undefined
      ? controlMessage('call_as_text_reminder', callText(tool))
      : wrong !== undefined
        ? controlMessage('format_reminder', formatText(wrong))
        : controlMessage('report_reminder', REPORT);
  return { do: 'say', messages: [reminder] };
}

const REPORT =
  'An answer in plain text does not end this task. If there is more to do, call the next tool. If the work is done, call final_report with the whole result. If you cannot do it, call final_report with success: false and say why.';

function callText(tool: string): string {
  return `You wrote a call of ${tool} as text, so nothing was called. Make the call itself, as a tool call and not in the text of your answer.`;
}

function formatFault({ output }: Talk['agent'], text: string): string | undefined {
  const answer = output === undefined ? undefined : readAnswer(output, text);
  return answer !== undefined && 'wrong' in answer ? answer.wrong : undefined;
}

function formatText(wrong: string): string {
  return `Your answer must be JSON that fits the schema in your instructions, and nothing else, but ${wrong}. Answer again with the JSON only.`;
}
