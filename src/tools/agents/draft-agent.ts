/** What whoever makes new agents owes: a draft that is valid, and a verdict on how it did. Neither changes anything. */
import { isSafeId } from '../../domain/task/id.js';
import type { Tool } from '../core/tool.js';

export const draftAgent: Tool = {
  name: 'draft_agent',
  kind: 'pure',
  description:
    'Hands in the draft of a new agent: a Markdown file with frontmatter (description, tools, capabilities, …) and its prompt, and a small task to try it on. It is checked at once; mend what is told and call again. It is tried without being able to change anything, and a human decides.',
  parameters: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Name of the agent: letters, digits, _ and -' },
      source: { type: 'string', description: 'The whole file: frontmatter between --- lines, then the prompt' },
      trial_task: {
        type: 'string',
        description: 'A small task that shows whether it can do its work by looking and thinking alone',
      },
      trial_expect: { type: 'string', description: 'What a good answer to that task must have' },
      script_file: {
        type: 'string',
        description: 'If it needs a script of its own: its name, such as tools/convert.py',
      },
      script_text: { type: 'string', description: 'The whole script' },
    },
    required: ['name', 'source', 'trial_task', 'trial_expect'],
    additionalProperties: false,
  },
  run(args, context) {
    const {
      name,
      source,
      trial_task: task,
      trial_expect: expect,
      script_file: file,
      script_text: text,
    } = args as Record<string, string>;
    const wrong = mistake(name!, task!, file, text) ?? context.checkDraft(name!, source!);
    if (wrong !== undefined) return { kind: 'problem', code: 'bad_field', message: wrong };
    const script = file === undefined ? {} : { script: { file, text } };
    return { kind: 'final', text: JSON.stringify({ name, source, trial: { task, expect }, ...script }) };
  },
};

function mistake(name: string, task: string, file?: string, text?: string): string | undefined {
  if (!isSafeId(name) || name.includes('.'))
    return `${JSON.stringify(name)} cannot be the name of an agent; use letters, digits, _ and -`;
  if (task.trim() === '') return 'trial_task is empty; say what it shall be tried on';
  if ((file === undefined) !== (text === undefined)) return 'a script needs both script_file and script_text';
  if (file !== undefined && !/^tools\/[A-Za-z0-9][\w.-]{0,60}$/.test(file))
    return 'script_file must be a plain name under tools/, such as tools/convert.py';
  return undefined;
}

export const judgeTrial: Tool = {
  name: 'judge_trial',
  kind: 'pure',
  description: 'Says how the new agent did.',
  parameters: {
    type: 'object',
    properties: {
      works: { type: 'boolean', description: 'Its answers are what was asked for' },
      better: {
        type: 'boolean',
        description: 'Its answer to the real task is better than that of the agent there was; true if there was none',
      },
      reason: { type: 'string', description: 'Why, and if it does not work, what must change' },
    },
    required: ['works', 'better', 'reason'],
    additionalProperties: false,
  },
  run: (args) => ({ kind: 'final', text: JSON.stringify(args) }),
};
