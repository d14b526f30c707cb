/** Asks for something that the task needs before it can go on: data, expertise, a resource, an approval, or the end of another task. */
import {
  DEPENDENCY_ROLE,
  DEPENDENCY_TYPES,
  type Dependency,
  type DependencyType,
} from '../../domain/coordination/dependency.js';
import { childId, isSafeId } from '../../domain/task/id.js';
import { ENGINE } from '../../domain/task/task.js';
import { priorityOf, URGENCIES, type Urgency } from '../../domain/coordination/urgency.js';
import type { Tool, ToolReply } from '../core/tool.js';

/** Characters of a need; more belongs into a file that it names. */
const MOST_NEED = 16_000;
const MOST_WORDS = 50;

export const requestDependency: Tool = {
  name: 'request_dependency',
  kind: 'ask',
  description:
    'Asks for what you cannot go on without, and waits for it. data or expertise: another agent is found and asked. resource: you get it as soon as nobody else holds it, and keep it until your task ends or you give it back with give_back. approval: the human, or the reviewer you name, decides. sequence: another task must have ended. The answer is {status, provider, data, next_steps}. Several requests of one turn go out together.',
  parameters: {
    type: 'object',
    properties: {
      type: { type: 'string', enum: [...DEPENDENCY_TYPES], description: 'What kind of thing is needed' },
      need: { type: 'string', description: 'What is needed and for what, complete in itself' },
      data_type: {
        type: 'string',
        description: 'For data: what kind, such as schema; who has it in its file is asked',
      },
      expertise: {
        type: 'array',
        items: { type: 'string' },
        description: 'For data and expertise: the fields to look for',
      },
      resource: { type: 'string', description: 'For resource: its name' },
      after: { type: 'string', description: 'For sequence: the id of the task that must end first' },
      reviewer: { type: 'string', description: 'For approval: the agent that decides; leave out to ask the human' },
      urgency: { type: 'string', enum: [...URGENCIES], description: 'normal if left out' },
      deadline: {
        type: 'string',
        description: 'When it is too late: a time (2030-01-31T12:00:00Z) or how long (10m, 2h)',
      },
    },
    required: ['type', 'need'],
    additionalProperties: false,
  },
  run(args, { task, callId }) {
    const read = readArgs(args);
    if ('kind' in read) return read;
    return {
      kind: 'ask',
      child: {
        id: childId(task.id, `call-${callId}`),
        role: DEPENDENCY_ROLE,
        to: ENGINE,
        ...(task.to === undefined ? {} : { from: task.to }),
        type: read.type,
        description: read.need,
        priority: priorityOf(read.urgency),
        context: { dependency: read },
      },
    };
  },
};

function readArgs(args: Record<string, unknown>): Dependency | ToolReply {
  const type = args['type'] as DependencyType;
  const text = (key: string): string | undefined => (args[key] as string | undefined)?.trim() || undefined;
  const need = text('need');
  if (need === undefined) return wrong('need is empty; say what you need and for what');
  if (need.length > MOST_NEED)
    return {
      kind: 'problem',
      code: 'over_limit',
      message: `need has ${need.length} characters, at most ${MOST_NEED}; put the long part into a file and name it`,
    };
  const expertise = ((args['expertise'] ?? []) as string[]).map((word) => word.trim()).filter((word) => word !== '');
  if (expertise.length > MOST_WORDS) return wrong(`expertise has ${expertise.length} words, at most ${MOST_WORDS}`);
  const given = {
    data_type: text('data_type'),
    resource: text('resource'),
    after: text('after'),
    reviewer: text('reviewer'),
  };
  const missing = NEEDED[type];
  if (missing !== undefined && given[missing] === undefined) return wrong(`${missing} is missing; ${type} needs it`);
  const stray = Object.keys(given).find(
    (key) => given[key as keyof typeof given] !== undefined && !MAY[type].includes(key),
  );
  if (stray !== undefined) return wrong(`${stray} says nothing about ${type}; leave it out or choose another type`);
  if (given.resource !== undefined && !(isSafeId(given.resource) && given.resource.length <= 60))
    return {
      kind: 'problem',
      code: 'bad_name',
      message: 'resource must be a name of letters, digits, _, - and ., at most 60',
    };
  const deadline = text('deadline');
  return {
    type,
    need,
    urgency: (args['urgency'] as Urgency | undefined) ?? 'normal',
    ...(given.data_type ? { dataType: given.data_type } : {}),
    ...(expertise.length > 0 ? { expertise } : {}),
    ...(given.resource ? { resource: given.resource } : {}),
    ...(given.after ? { after: given.after } : {}),
    ...(given.reviewer ? { reviewer: given.reviewer } : {}),
    ...(deadline ? { deadline } : {}),
  };
}

const NEEDED: Partial<Record<DependencyType, 'resource' | 'after'>> = { resource: 'resource', sequence: 'after' };
const MAY: Record<DependencyType, string[]> = {
  data: ['data_type'],
  expertise: [],
  resource: ['resource'],
  approval: ['reviewer'],
  sequence: ['after'],
};

function wrong(message: string): ToolReply {
  return { kind: 'problem', code: 'bad_field', message };
}
