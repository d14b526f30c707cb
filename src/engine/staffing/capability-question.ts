/**
 * No agent is able to do a task, and the task does not say which capability is missing. The human
 * is asked before anything is spent on a new agent, and names the capability.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import { questionFor } from '../approvals/request.js';

export function capabilityQuestion(task: Task, maker: Agent, unable: readonly string[]): WantedChild {
  const call = { id: 'new-capability', name: 'create_agent', arguments: {} };
  const title = task.description.split('\n')[0]!.slice(0, 200);
  const text = [
    `No agent here is able to do this task: ${title}`,
    ...unable.slice(0, 10).map((line) => `- ${line.slice(0, 300)}`),
    `Should ${maker.name} draft a new agent for it? Then answer with the capability that is missing, in one or two words, such as "translation". You see the new agent before it exists. If you reject this question, the task fails.`,
  ].join('\n');
  return questionFor(
    task,
    maker,
    call,
    { text },
    {
      part: 'new-capability',
      asker: maker.name,
      confinement: 'your answer starts the draft of a new agent, which costs model calls; nothing else runs',
      reasons: ['every bidder says that it cannot do this'],
    },
  );
}

/** `Klingon translation` is `klingon_translation`; empty if it has no letters. */
export function asCapability(answer: string): string {
  return answer
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 60);
}
