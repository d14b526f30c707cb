/** Reads the answer of one marked ballot entry, or the reason why it does not count. */
import { parseMapping } from '../../domain/mapping.js';
import { draw } from '../../domain/consent/draw.js';
import { defined } from '../../domain/defined.js';
import type { Answer, Approval } from '../../domain/task/approval.js';
import { answerIn, type Question } from '../../domain/task/question.js';
import { problem, type Problem } from '../../domain/problem.js';
import { whereAt } from '../lines/where.js';
import { fieldOf, type Field, type Item } from './parse.js';
import { blockText } from './value.js';

/** Undefined if the box is open. */
export function answerOf(
  text: string,
  file: string,
  item: Item,
  approval: Approval,
): Omit<Answer, 'at'> | Problem | undefined {
  if (item.box !== 'done' && item.box !== 'skipped') return undefined;
  const reason = textOf(item, 'reason') ?? textOf(item, 'rejection_reason');
  if (item.box === 'skipped') {
    const by = textOf(item, 'rejected_by') ?? textOf(item, 'approved_by') ?? 'human';
    return defined({ approved: false, by, reason: reason || undefined });
  }
  const held = (why: string, at = item.bodyStart): Problem =>
    problem('not_allowed', `the answer to ${item.id} does not count: ${why}`, {
      where: whereAt(file, text, at),
      hint: approval.request.question
        ? `answer with guild answer ${item.id} <text>, or change the entry`
        : `answer with guild approve ${item.id} or guild reject ${item.id}, or restore the entry`,
    });
  const refusal = refusingField(item);
  if (refusal !== undefined)
    return held(`[x] approves it, but ${refusal.key}: refuses it; remove the line or mark it [-]`, refusal.span.start);
  const by = textOf(item, 'approved_by') ?? 'human';
  const { action, title } = draw(approval);
  const field = fieldOf(item, action.key);
  if (field === undefined) return held(`the line ${action.key}: is missing, so the action is not shown`);
  const below = blockText(String(field.value));
  const above = item.title === title ? undefined : commandInTitle(item, approval);
  const isSame = below === blockText(action.text);
  if (above === undefined && item.title !== title)
    return held('its title was changed; edit the action below it instead');
  if (above !== undefined && !isSame && above !== below) return held('the edited title and action do not agree');
  if (above === undefined && isSame) {
    const { question } = approval.request;
    return question === undefined ? { approved: true, by } : answerToQuestion(item, question, by, held);
  }
  if (approval.request.question !== undefined) return held('the question was changed; answer it as it was asked');
  const edited = editedArguments(approval, action, isSame ? above! : below);
  return edited === undefined ? held('the edited action cannot be read') : { approved: true, by, edited };
}

function answerToQuestion(
  item: Item,
  question: Question,
  by: string,
  held: (why: string, at?: number) => Problem,
): Omit<Answer, 'at'> | Problem {
  const field = fieldOf(item, 'answer');
  const given = answerIn(question, blockText(String(field?.value ?? '')));
  return 'wrong' in given ? held(given.wrong, field?.span.start) : { approved: true, by, text: given.text };
}

/** A field that contradicts `[x]`, such as a reason: only a refusal has one. */
function refusingField(item: Item): Field | undefined {
  const filled = ({ value }: Field): boolean => String(value).trim() !== '';
  return item.fields.find((field) => {
    const { key, value } = field;
    if (key === 'status') return filled(field) && !/^(?:pending|approved|answered)$/i.test(String(value).trim());
    return (key === 'rejected_by' || key === 'reason' || key === 'rejection_reason') && filled(field);
  });
}

/**
 * For the last entry of a file without its end line. The program writes the digest last (earlier
 * builds wrote the description last), so an entry that has it is complete.
 */
export function isEntryComplete(text: string, item: Item): boolean {
  const last = fieldOf(item, 'digest') ?? fieldOf(item, 'description');
  return last !== undefined && text.endsWith('\n');
}

/** A command of one line may also be edited in the title. */
function commandInTitle(item: Item, { request, title }: Approval): string | undefined {
  const start = 'Approve command: ';
  const isOneLine =
    request.tool === 'execute_command' &&
    title === start + String(request.arguments['command']) &&
    !/[\r\n]/.test(title);
  return isOneLine && item.title.startsWith(start) ? item.title.slice(start.length).trim() : undefined;
}

function editedArguments(
  approval: Approval,
  action: { key: string; text: string },
  now: string,
): Record<string, unknown> | undefined {
  const { request } = approval;
  if (action.key !== 'arguments') {
    // If the text was shown with escapes, an edit of it is not an edit of the action.
    const original = String(request.arguments[action.key] ?? '');
    return blockText(original) === blockText(action.text) && now.trim() !== '' ? { [action.key]: now } : undefined;
  }
  return parseMapping(now);
}

function textOf(item: Item, key: string): string | undefined {
  const value = fieldOf(item, key)?.value;
  return value === undefined || String(value).trim() === '' ? undefined : String(value);
}
