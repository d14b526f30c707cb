/**
 * A question of an agent to its human. The answer is text; if there are choices, it is one of them.
 * A default is only preselected: silence never answers.
 */
export interface Question {
  text: string;
  choices?: string[];
  default?: string;
}

export const QUESTION_ROLE = 'question';
export const ASK_TOOL = 'ask_human';

/** The record may have come from anywhere. */
export function isQuestion(value: unknown): value is Question {
  if (typeof value !== 'object' || value === null) return false;
  const { text, choices, default: preselected } = value as Partial<Record<keyof Question, unknown>>;
  const isText = (one: unknown): boolean => typeof one === 'string';
  return (
    isText(text) &&
    (choices === undefined || (Array.isArray(choices) && choices.every(isText))) &&
    (preselected === undefined || isText(preselected))
  );
}

const MAX_ANSWER_CHARS = 64_000;

/** The answer that this text gives, or why it gives none. */
export function answerIn(question: Question, typed: string): { text: string } | { wrong: string } {
  const text = typed.trim();
  if (text === '') return { wrong: 'the answer is empty' };
  if (text.length > MAX_ANSWER_CHARS)
    return { wrong: `the answer has ${text.length} characters; the limit is ${MAX_ANSWER_CHARS}` };
  const { choices } = question;
  if (choices === undefined || choices.includes(text)) return { text };
  const alike = choices.filter((choice) => choice.toLowerCase() === text.toLowerCase());
  if (alike.length === 1) return { text: alike[0]! };
  return { wrong: `${JSON.stringify(text.slice(0, 60))} is not one of the choices: ${choices.join(', ')}` };
}
