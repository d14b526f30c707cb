/** Asks for data, expertise, a resource, an approval or the end of another task, and waits. */
import {
  DEPENDENCY_ROLE,
  DEPENDENCY_TYPES,
  type Dependency,
  type DependencyType,
} from '../../domain/coordination/dependency.js';
import { childId, isSafeId } from '../../domain/task/id.js';
import { ENGINE, HUMAN } from '../../domain/task/task.js';
import { priorityOf, URGENCIES } from '../../domain/coordination/urgency.js';
import { defineTool, oneOf, optional, text, texts, toolProblem } from '../core/define-tool.js';
import type { ToolReply } from '../core/tool.js';

/** A longer text belongs in a file that `need` names. */
const MAX_NEED_CHARS = 16_000;
const MAX_EXPERTISE = 50;

export const requestDependency = defineTool({
  name: 'request_dependency',
  kind: 'ask',
  description:
    'Asks for something that you cannot continue without, and waits for it. For data or expertise, another agent is found and asked. A resource is yours as soon as no other task holds it, until your task ends or you give it back with give_back. An approval is decided by the human, or by the reviewer you name. For a sequence, another task must have ended. The answer is {status, provider, data, next_steps}. Several requests of one turn go out together.',
  args: {
    type: oneOf(DEPENDENCY_TYPES, 'What kind of thing is needed'),
    need: text('What is needed and what for, self-contained'),
    data_type: optional(text('For data: what kind, such as schema; matched with expertise and capabilities of agents')),
    expertise: optional(texts('For data and expertise: the fields to look for')),
    resource: optional(text('For resource: its name')),
    after: optional(text('For sequence: the id of the task that must end first')),
    reviewer: optional(text('For approval: the agent that decides; leave out to ask the human')),
    urgency: optional(oneOf(URGENCIES, 'normal if left out')),
    deadline: optional(text('The deadline: a time (2030-01-31T12:00:00Z) or a duration (10m, 2h)')),
  },
  run({ type, urgency = 'normal', ...args }, { task, callId }) {
    const need = args.need.trim();
    const expertise = (args.expertise ?? []).map((word) => word.trim()).filter((word) => word !== '');
    const details: Details = {
      data_type: args.data_type?.trim() || undefined,
      resource: args.resource?.trim() || undefined,
      after: args.after?.trim() || undefined,
      // The human decides if no agent is named.
      reviewer: named(args.reviewer?.trim()),
    };
    const wrong = badNeed(need) ?? badDetails(type, details, expertise);
    if (wrong !== undefined) return wrong;
    const { data_type: dataType, ...more } = details;
    const dependency: Dependency = {
      type,
      need,
      urgency,
      dataType,
      expertise: expertise.length > 0 ? expertise : undefined,
      ...more,
      deadline: args.deadline?.trim() || undefined,
    };
    return {
      kind: 'ask',
      child: {
        id: childId(task.id, `call-${callId}`),
        role: DEPENDENCY_ROLE,
        to: ENGINE,
        from: task.to,
        type,
        description: need,
        priority: priorityOf(urgency),
        context: { dependency },
      },
    };
  },
});

function named(reviewer: string | undefined): string | undefined {
  return reviewer === '' || reviewer === HUMAN ? undefined : reviewer;
}

type Details = Partial<Record<'data_type' | 'resource' | 'after' | 'reviewer', string>>;

const NEEDED: Partial<Record<DependencyType, 'resource' | 'after'>> = { resource: 'resource', sequence: 'after' };
const ALLOWED: Record<DependencyType, keyof Details | undefined> = {
  data: 'data_type',
  expertise: undefined,
  resource: 'resource',
  approval: 'reviewer',
  sequence: 'after',
};

function badNeed({ length }: string): ToolReply | undefined {
  if (length === 0) return toolProblem('bad_field', 'need is empty; say what you need and for what');
  if (length <= MAX_NEED_CHARS) return undefined;
  const limit = `need has ${length} characters; the limit is ${MAX_NEED_CHARS}`;
  return toolProblem('over_limit', `${limit}; put the long part into a file and name it`);
}

function badDetails(type: DependencyType, details: Details, { length }: string[]): ToolReply | undefined {
  if (length > MAX_EXPERTISE)
    return toolProblem('bad_field', `expertise has ${length} words; the limit is ${MAX_EXPERTISE}`);
  const needed = NEEDED[type];
  if (needed !== undefined && details[needed] === undefined)
    return toolProblem('bad_field', `${needed} is missing; ${type} needs it`);
  const present = (Object.keys(details) as (keyof Details)[]).filter((key) => details[key] !== undefined);
  const stray = present.find((key) => key !== ALLOWED[type]);
  if (stray !== undefined)
    return toolProblem('bad_field', `${stray} does not apply to ${type}; leave it out or choose another type`);
  const { resource } = details;
  if (resource === undefined || (isSafeId(resource) && resource.length <= 60)) return undefined;
  return toolProblem('bad_name', 'resource must be a name of letters, digits, _, - and ., at most 60');
}
