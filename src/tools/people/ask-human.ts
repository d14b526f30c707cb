/** Asks the human a question and waits for the answer. */
import { defined } from '../../domain/defined.js';
import { answerIn, ASK_TOOL, type Question } from '../../domain/task/question.js';
import { defineTool, optional, text, texts, toolProblem } from '../core/define-tool.js';
import type { ToolReply } from '../core/tool.js';

const MAX_QUESTION_CHARS = 8000;
const MAX_CHOICES = 20;
const MAX_CHOICE_CHARS = 200;

export const askHuman = defineTool({
  name: ASK_TOOL,
  kind: 'ask',
  description:
    'Asks your human a question and waits for the answer, which may take hours. Use it when only a person can decide or know. Ask one thing, and say what you need to know it for. The result is the answer in plain words. Not for permission: an action that needs approval asks by itself.',
  args: {
    question: text('The question, self-contained: the person does not see this conversation'),
    choices: optional(texts('The only possible answers, two to 20; leave out for an answer in words')),
    default: optional(text('The answer that is preselected; the person still has to confirm it')),
  },
  run(args, { askHuman: childFor }) {
    const choices = args.choices?.map((choice) => choice.trim());
    const preselected = args.default?.trim() || undefined;
    const question: Question = defined({
      text: args.question.trim(),
      choices: choices === undefined || choices.length === 0 ? undefined : choices,
      default: preselected,
    });
    return badQuestion(question) ?? { kind: 'ask', child: childFor(question) };
  },
});

function badQuestion({ text: asked, choices, default: preselected }: Question): ToolReply | undefined {
  if (asked === '') return toolProblem('bad_field', 'question is empty; say what you want to know');
  if (asked.length > MAX_QUESTION_CHARS)
    return toolProblem('over_limit', `question has ${asked.length} characters; the limit is ${MAX_QUESTION_CHARS}`);
  return badChoices(choices) ?? badDefault({ text: asked, choices: choices ?? [], default: preselected ?? '' });
}

function badChoices(choices: string[] | undefined): ToolReply | undefined {
  if (choices === undefined) return undefined;
  if (choices.length < 2 || choices.length > MAX_CHOICES)
    return toolProblem('bad_field', `choices has ${choices.length} items; give two to ${MAX_CHOICES}, or leave it out`);
  const odd = choices.find((choice) => choice === '' || choice.length > MAX_CHOICE_CHARS || /[\r\n]/.test(choice));
  if (odd !== undefined) return toolProblem('bad_field', `a choice is one line of 1 to ${MAX_CHOICE_CHARS} characters`);
  if (new Set(choices.map((choice) => choice.toLowerCase())).size < choices.length)
    return toolProblem('bad_field', 'two of the choices are the same');
  return undefined;
}

function badDefault(question: Required<Question>): ToolReply | undefined {
  if (question.default === '' || question.choices.length === 0) return undefined;
  const chosen = answerIn(question, question.default);
  return 'wrong' in chosen ? toolProblem('bad_field', `default: ${chosen.wrong}`) : undefined;
}
