/**
 * Breaks a task into parts for other agents. Parts run in parallel as far as their dependencies
 * allow. When all have ended, their outcomes are the result of the call. Parts that repeat existing
 * work are dropped.
 */
import { childId } from '../../domain/task/id.js';
import { nearest } from '../../domain/nearest.js';
import { defineTool, flag, listOf, optional, text, texts, toolProblem } from '../core/define-tool.js';

export const breakDown = defineTool({
  name: 'break_down',
  kind: 'ask',
  description:
    'Breaks your task into parts and waits for all of them. Each part becomes a separate task and is offered to the agents that can do it; parts that do not depend on others run in parallel. Describe each part so that it is self-contained. Parts that repeat existing work are dropped and reported to you. Then combine the results into your answer.',
  args: {
    parts: listOf(
      {
        key: text('A short name, unique among the parts'),
        description: text('What to do, self-contained'),
        type: optional(text('What kind of work it is')),
        agent: optional(text('The agent that does it; if left out, agents bid for it')),
        requires: optional(texts('Capabilities that are needed')),
        depends_on: optional(texts('Keys of parts that must be done first')),
        new: optional(flag('True if it needs a capability that no agent has yet')),
      },
      'At least two',
    ),
  },
  async run(args, context) {
    for (const { key, agent } of args.parts) {
      if (!agent || (context.agents.has(agent) && agent !== context.agent.name)) continue;
      if (agent === context.agent.name)
        return toolProblem('not_allowed', `the part ${key} is assigned to you; name another agent, or leave agent out`);
      const near = nearest(agent, context.agents.keys());
      const meant = near === undefined ? '' : `; did you mean ${near}?`;
      return toolProblem(
        'unknown_agent',
        `${key} is assigned to ${JSON.stringify(agent)}, which does not exist${meant}`,
      );
    }
    const parts = args.parts.map(({ key, description, type, agent, requires, depends_on: after, new: isNew }) => ({
      key,
      description,
      type: type || undefined,
      to: agent || undefined,
      requirements: requires ?? [],
      dependsOn: after ?? [],
      isNew: isNew === true,
    }));
    const broken = await context.breakDown(parts);
    if ('code' in broken) return toolProblem(broken.code, broken.message);
    const id = childId(context.task.id, `call-${context.callId}`);
    const description = `Parts of: ${context.task.description}`;
    return {
      kind: 'ask',
      child: { id, role: 'breakdown', to: context.agent.name, description, context: { breakdown: broken } },
    };
  },
});

/** A model's judgement on which doubtful parts repeat existing work. */
export const nameDuplicates = defineTool({
  name: 'name_duplicates',
  kind: 'pure',
  description: 'Says which parts are essentially the same work as the task listed with them.',
  args: { duplicates: texts('Keys of parts; may be empty') },
  run: ({ duplicates }) => ({ kind: 'final', text: JSON.stringify(duplicates) }),
});
