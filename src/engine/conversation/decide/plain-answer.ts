/**
 * Whether an answer in plain text ends the task. An agent that has final_report must end with it,
 * and a tool call written as text is not an answer. Either gets one reminder; after that the task
 * fails and keeps the text.
 */
import { problem } from '../../../domain/problem.js';
import { lastThatMatters, type MessageKind } from '../../../domain/session/session.js';
import { roleFacts } from '../../../domain/task/role.js';
import { callAsText } from '../../../rules/patterns/call-as-text.js';
import { failure } from './failure.js';
import { controlMessage, type Step, type Talk } from './step.js';

const REMINDERS: ReadonlySet<MessageKind | undefined> = new Set<MessageKind>([
  'report_reminder',
  'call_as_text_reminder',
]);

/** Undefined if the text is an answer. */
export function plainAnswerStep(talk: Talk, text: string): Step | undefined {
  const { task, agent, messages, tools } = talk;
  // The last turn may not call tools, so whatever it says is the answer.
  if (lastThatMatters(messages.slice(0, -1))?.kind === 'last_turn') return undefined;
  const tool = callAsText(text, tools);
  const mustReport = tools.includes('final_report') && !roleFacts(task.role).answersInText;
  if (tool === undefined && !mustReport) return undefined;
  const attempt = messages.slice(messages.findLastIndex((message) => message.kind === 'retry') + 1);
  if (attempt.some((message) => REMINDERS.has(message.kind))) {
    const what = tool === undefined ? 'answered in text' : `wrote a call of ${tool} as text`;
    const why = problem('model_failed', `${agent.name} ${what} after a reminder instead of making a call`, {
      hint: `read what it said with guild task show ${task.id}; a model that is good at calling tools may do better`,
    });
    return failure(talk, why, text);
  }
  const reminder =
    tool === undefined
      ? controlMessage('report_reminder', REPORT)
      : controlMessage('call_as_text_reminder', callText(tool));
  return { do: 'say', messages: [reminder] };
}

const REPORT =
  'An answer in plain text does not end this task. If there is more to do, call the next tool. If the work is done, call final_report with the whole result. If you cannot do it, call final_report with success: false and say why.';

function callText(tool: string): string {
  return `You wrote a call of ${tool} as text, so nothing was called. Make the call itself, as a tool call and not in the text of your answer.`;
}
