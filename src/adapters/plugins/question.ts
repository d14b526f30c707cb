/** A question that a plugin asks in the middle of a call, made short enough for people to read. */
import { defined } from '../../domain/defined.js';
import type { Question } from '../../domain/task/question.js';

const MAX_CHARS = 4000;
const MAX_CHOICES = 20;
const MAX_CHOICE_CHARS = 200;

/** Undefined if it has no text. Choices that cannot be shown are named in the text instead. */
export function questionIn(ask: unknown): Question | undefined {
  const { question, choices, default: preselected } = (ask ?? {}) as Record<string, unknown>;
  if (typeof question !== 'string' || question.trim() === '') return undefined;
  const text = question.trim().slice(0, MAX_CHARS);
  const listed = Array.isArray(choices) ? choices.map((choice) => String(choice).trim()) : [];
  const isShown =
    listed.length >= 2 &&
    listed.length <= MAX_CHOICES &&
    new Set(listed.map((choice) => choice.toLowerCase())).size === listed.length &&
    listed.every((choice) => choice !== '' && choice.length <= MAX_CHOICE_CHARS && !/[\r\n]/.test(choice));
  const chosen = typeof preselected === 'string' && (!isShown || listed.includes(preselected)) ? preselected : '';
  return defined({
    text: isShown || listed.length === 0 ? text : `${text}\nPossible answers: ${listed.join(', ')}`.slice(0, MAX_CHARS),
    choices: isShown ? listed : undefined,
    default: chosen === '' ? undefined : chosen.slice(0, MAX_CHOICE_CHARS),
  });
}
