/**
 * The head of new conversations. Every conversation of an agent in one role on one day has the same
 * system text and tools, so they are built, hashed and stored once, and again only when one of
 * their inputs has changed.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Pins } from '../../domain/session/session.js';
import type { Task } from '../../domain/task/task.js';
import { todayText } from '../../rules/prompts/today.js';
import type { EngineContext } from '../core/context.js';
import { grantedNames } from '../core/grants.js';
import { projectText } from '../core/project-text.js';
import { pinsOf, storePins } from './pins.js';
import { promptHead, type PromptHead } from './prompt.js';

export interface BuiltHead {
  head: PromptHead;
  pins: Pins;
  /** Resolves when the agent's file and the head are stored as blobs. */
  stored(): Promise<void>;
}

export function builtHead(context: EngineContext, agent: Agent, task: Pick<Task, 'role'>): BuiltHead {
  const sources = sourcesOf(context, agent, task);
  const before = context.folds.built.get(agent);
  if (before !== undefined && isSame(before.sources, sources)) return before;
  const head = promptHead(context, agent, task);
  let storing: Promise<unknown> | undefined;
  const store = (): Promise<unknown> =>
    Promise.all([context.blobs.put(context.agents.source(agent)), storePins(context, head)]);
  const built = {
    head,
    pins: pinsOf(context, head),
    sources,
    async stored() {
      // After a failed write, the next conversation tries again.
      storing ??= store().catch((thrown: unknown) => {
        storing = undefined;
        throw thrown;
      });
      await storing;
    },
  };
  context.folds.built.set(agent, built);
  return built;
}

/** Everything that a head depends on and that can change while a process runs. */
function sourcesOf(context: EngineContext, agent: Agent, task: Pick<Task, 'role'>): readonly unknown[] {
  const skills = context.project.skills().map(({ name, isHidden }) => `${name} ${isHidden}`);
  return [
    task.role,
    context.agents.all(),
    todayText(context.clock.now(), context.surroundings.timeZone),
    projectText(context, agent, task),
    skills.join('\n'),
    ...grantedNames(agent, task, context.config.channels).map((name) => context.tools.get(name)),
  ];
}

function isSame(before: readonly unknown[], now: readonly unknown[]): boolean {
  return before.length === now.length && before.every((source, at) => source === now[at]);
}
