/**
 * How approvals are shown on the ballot, `tasks/approvals.task.md`: new entries, and edits of
 * existing ones. `domain/consent/draw` draws the content of an entry.
 */
import { draw } from '../../domain/consent/draw.js';
import { visible } from '../../domain/consent/visible.js';
import type { Approval, Fate } from '../../domain/task/approval.js';
import { addItems, type NewItem } from './add.js';
import { boxEdits, fieldEdits, titleEdits, type Edit } from './edit.js';
import { fieldOf, type Item } from './parse.js';
import { blockText } from './value.js';

const BALLOT_HEAD = `# Approvals

Actions that wait for your approval, and questions. Put an x into the box of an entry to approve it, or a - to reject it (optionally with a
line \`reason: …\` below). You may edit an action before you approve it; the edited text is what runs. Deleting an entry rejects it.
To answer a question, write after \`answer:\` and put an x into the box.
Keep the last line of the file: it says that the file is complete.

## TODO
`;

const TYPES: Record<string, string> = {
  execute_command: 'terminal_command',
  ask_human: 'question',
  write_file: 'file_write',
  slack_send: 'slack_send',
};

const HOW_TO_ANSWER = 'Write your answer after answer: and put an x into the box. A - in the box declines to answer.';

/** The start of the digest, as an entry shows it. */
export function shownDigest({ request }: Approval): string {
  return request.digest.slice(0, 12);
}

/** Every field that an entry starts with. The digest is last: an entry that has it is complete. */
function fieldsOf(approval: Approval): Record<string, string> {
  const { request } = approval;
  const { action, about, changes, risk, question } = draw(approval);
  return {
    id: approval.id,
    approval_type: TYPES[request.tool] ?? request.tool,
    agent: request.agent,
    requesting_agent_session_id: request.session,
    created: approval.created,
    ...(risk ? { risk } : {}),
    status: 'pending',
    [action.key]: action.text,
    ...(question ? { answer: question.default ?? '' } : {}),
    description: [
      ...(question ? [HOW_TO_ANSWER] : []),
      ...about,
      ...(changes.length > 0 ? ['', 'Changes:', ...changes] : []),
    ].join('\n'),
    digest: shownDigest(approval),
  };
}

function entryOf(approval: Approval): NewItem {
  return {
    title: draw(approval).title,
    openMark: '_',
    quote: '`',
    priority: 'A',
    stakeholders: ['human'],
    tags: ['approval'],
    fields: fieldsOf(approval),
  };
}

export function addEntries(body: string, approvals: readonly Approval[]): string {
  if (approvals.length === 0) return body;
  return addItems(body.trim() === '' ? BALLOT_HEAD : body, approvals.map(entryOf), 'TODO');
}

const FATES: Readonly<Record<Fate, string>> = {
  done: 'done',
  refused: 'refused',
  unknown: 'unknown: may have run',
  again: 'asked again',
};

/** Shows the answer and its fate on the entry. */
export function answerEdits(text: string, item: Item, approval: Approval, fate: Fate | undefined): Edit[] {
  const { answer } = approval;
  const edits: Edit[] = [];
  if (answer) {
    edits.push(...boxEdits(text, item, answer.approved ? 'done' : 'skipped'));
    edits.push(...fieldEdits(text, item, 'status', statusOf(approval)));
    // If several people answer, the first answer counts; the entry tells the others whose it was.
    if (answer.desk !== undefined) edits.push(...fieldEdits(text, item, 'answered_by', visible(answer.desk)));
    if (answer.text !== undefined) edits.push(...fieldEdits(text, item, 'answer', visible(answer.text)));
    edits.push(...changeEdits(text, item, approval));
  }
  if (fate !== undefined) edits.push(...fieldEdits(text, item, 'fate', FATES[fate]));
  return edits;
}

function statusOf({ request, answer }: Approval): string {
  if (request.question) return answer?.approved ? 'answered' : 'declined';
  return answer?.approved ? 'approved' : 'rejected';
}

/**
 * Adds the edited action or the reason of an answer given elsewhere, such as on the command line.
 */
function changeEdits(text: string, item: Item, approval: Approval): Edit[] {
  const { edited, reason } = approval.answer!;
  const { key, text: asked } = draw(approval).action;
  const instead = key === 'arguments' || edited === undefined ? edited : edited[key];
  const shown = blockText(String(fieldOf(item, key)?.value ?? ''));
  if (instead !== undefined && shown === blockText(asked)) {
    const written = visible(typeof instead === 'string' ? instead : JSON.stringify(instead));
    return fieldEdits(text, item, 'edited', written);
  }
  if (reason !== undefined && fieldOf(item, 'reason') === undefined)
    return fieldEdits(text, item, 'reason', visible(reason));
  return [];
}

/** Opens the box again, with a note why. */
export function askAgainEdits(text: string, item: Item, why: string): Edit[] {
  const box = item.boxSpan ? [{ ...item.boxSpan, text: '[_]' }] : [];
  return [...box, ...fieldEdits(text, item, 'note', `asked again, because ${why}`)];
}

/** Opens the box again with a note, and redraws the whole entry from the current request. */
export function showAgainEdits(text: string, item: Item, approval: Approval, why: string): Edit[] {
  const { id: _, ...fields } = fieldsOf(approval);
  return [
    ...titleEdits(text, item, draw(approval).title),
    ...Object.entries(fields).flatMap(([key, value]) => fieldEdits(text, item, key, value)),
    ...askAgainEdits(text, item, why),
  ];
}
