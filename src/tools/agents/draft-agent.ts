/** The tools of an agent that drafts agents: submit a valid draft and judge its trial. */
import { defineTool, flag, optional, text, toolProblem } from '../core/define-tool.js';
import { badAgentName } from './create-agent.js';

export const draftAgent = defineTool({
  name: 'draft_agent',
  kind: 'pure',
  description:
    'Hands in the draft of a new agent: a Markdown file with frontmatter (description, tools, capabilities, …) and its prompt, and a small task to try it on. It is checked at once; fix what is reported and call again. In the trial it cannot change anything, and a human decides.',
  args: {
    name: text('Name of the agent: letters, digits, _ and -'),
    source: text('The whole file: frontmatter between --- lines, then the prompt'),
    trial_task: text('A small task that shows whether it can do its work by looking and thinking alone'),
    trial_expect: text('What a good answer to that task must have'),
    script_file: optional(text('If it needs its own script: the name, such as tools/convert.py')),
    script_text: optional(text('The whole script')),
  },
  run({ name, source, trial_task: task, trial_expect: expect, script_file: file, script_text: script }, context) {
    const wrong = badAgentName(name) ?? badTrial(task, file, script) ?? context.checkDraft(name, source);
    if (wrong !== undefined) return toolProblem('bad_field', wrong);
    const more = file === undefined ? {} : { script: { file, text: script } };
    return { kind: 'final', text: JSON.stringify({ name, source, trial: { task, expect }, ...more }) };
  },
});

function badTrial(task: string, file?: string, script?: string): string | undefined {
  if (task.trim() === '') return 'trial_task is empty; say what to try it on';
  if ((file === undefined) !== (script === undefined)) return 'a script needs both script_file and script_text';
  if (file !== undefined && !/^tools\/[A-Za-z0-9][\w.-]{0,60}$/.test(file))
    return 'script_file must be a plain name under tools/, such as tools/convert.py';
  return undefined;
}

export const judgeTrial = defineTool({
  name: 'judge_trial',
  kind: 'pure',
  description: 'Says how the new agent did. The reason comes first, the verdict last.',
  args: {
    reason: text('What in its answers is right and what is wrong; if it does not work, what must change'),
    works: flag('Its answers are what was asked for'),
    better: flag(
      'Its answer to the real task is better than that of the existing agent; true if there was no existing agent',
    ),
  },
  run: (args) => ({ kind: 'final', text: JSON.stringify(args) }),
});
