/** Exactly what the model is sent next in a conversation, made by the code that sends it. */
import { openReader } from '../../../app/readers/open-reader.js';
import { promptView } from '../../../app/readers/prompt/prompt-view.js';
import { lookAtTrust } from '../../../app/trust/trust.js';
import { defined } from '../../../domain/defined.js';
import { problem, ProblemError } from '../../../domain/problem.js';
import { isSafeId } from '../../../domain/task/id.js';
import type { Prompt } from '../../base/contract.js';

type Env = Record<string, string | undefined>;

export async function promptOf(root: string, session: string, env: Env): Promise<Prompt> {
  // The tools of plugins are part of it, and asking a plugin for them runs its code.
  if (lookAtTrust(root, env).state !== 'trusted')
    throw new ProblemError(
      problem('not_allowed', 'this workspace is not trusted yet, so its plugins are not loaded', {
        hint: 'guild trust',
      }),
    );
  const store = openReader(root);
  try {
    const opened = isSafeId(session) ? await store.sessions.open(session) : { kind: 'missing' as const };
    if (opened.kind !== 'open') throw new ProblemError(problem('not_found', `there is no conversation ${session}`));
    const { agentId, task } = opened.session.header;
    const view = await promptView(root, agentId, { about: task, env });
    return defined({
      agent: view.agent,
      model: view.model,
      system: view.system,
      tools: view.tools.map((tool) => ({
        name: tool.name,
        about: tool.description,
        text: JSON.stringify(tool, null, 2),
      })),
      messages: view.messages.map(({ role, content, toolCalls }) => ({
        role,
        text: toolCalls === undefined ? content : `${content}\n${JSON.stringify(toolCalls, null, 2)}`,
      })),
      tokens: view.tokens.system + view.tokens.tools + view.tokens.messages,
    });
  } finally {
    await store.close();
  }
}
