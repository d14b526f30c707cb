/**
 * How approvals are shown on the ballot, `tasks/approvals.task.md`: new entries, and edits of
 * entries that are there. Text from agents is shown in full, with control, bidi and invisible
 * characters escaped.
 */
import { mainArgument, type Approval, type Fate } from '../../domain/task/approval.js';
import { addItems, type NewItem } from './add.js';
import { boxEdits, fieldEdits, titleEdits, type Edit } from './edit.js';
import { fieldOf, type Item } from './parse.js';
import { blockText } from './value.js';

const BALLOT_HEAD = `# Approvals

Actions that wait for your approval. Put an x into the box of an entry to approve it, or a - to reject it (optionally with a
line \`reason: …\` below). You may edit an action before you approve it; the edited text is what runs. Deleting an entry rejects it.
Keep the last line of the file: it says that the file is complete.

## TODO
`;

const TYPES: Record<string, string> = {
  execute_command: 'terminal_command',
  write_file: 'file_write',
  slack_send: 'slack_send',
};

/** The field that shows the action, and its text. */
export function shownAction({ request }: Approval): { key: string; text: string } {
  const main = mainArgument(request.tool);
  if (main !== undefined) return { key: main, text: escapeInvisible(String(request.arguments[main] ?? '')) };
  return { key: 'arguments', text: escapeInvisible(JSON.stringify(request.arguments, null, 2)) };
}

export function shownTitle(approval: Approval): string {
  return escapeInvisible(approval.title).replace(/\s*[\r\n]+\s*/g, ' ');
}

/** The start of the digest, as an entry shows it. */
export function shownDigest({ request }: Approval): string {
  return request.digest.slice(0, 12);
}

function entryOf(approval: Approval): NewItem {
  const { request } = approval;
  const action = shownAction(approval);
  return {
    title: shownTitle(approval),
    openMark: '_',
    quote: '`',
    priority: 'A',
    stakeholders: ['human'],
    tags: ['approval'],
    // The digest is last: an entry that has it is complete.
    fields: {
      id: approval.id,
      approval_type: TYPES[request.tool] ?? request.tool,
      agent: request.agent,
      requesting_agent_session_id: request.session,
      created: approval.created,
      risk: request.risk,
      status: 'pending',
      [action.key]: action.text,
      description: shownDescription(approval),
      digest: shownDigest(approval),
    },
  };
}

function shownDescription(approval: Approval): string {
  const { request } = approval;
  const about = [
    ...request.reasons.map((reason, i) => (i === 0 ? `Asked because: ${reason}` : `  ${reason}`)),
    `How it runs: ${request.confinement}`,
    ...(request.taint.length > 0 ? [`Influenced by: ${request.taint.join(', ')}`] : []),
    ...otherArguments(approval, shownAction(approval).key),
    ...(request.diff ? ['', 'Changes:', ...request.diff.split('\n')] : []),
  ];
  return escapeInvisible(about.join('\n'));
}

function otherArguments({ request }: Approval, shown: string): string[] {
  if (shown === 'arguments') return [];
  return Object.entries(request.arguments).flatMap(([name, value]) =>
    name === shown ? [] : [`${name}: ${JSON.stringify(value)}`],
  );
}

export function addEntries(body: string, approvals: readonly Approval[]): string {
  if (approvals.length === 0) return body;
  return addItems(body.trim() === '' ? BALLOT_HEAD : body, approvals.map(entryOf), 'TODO');
}

const FATES: Readonly<Record<Fate, string>> = { done: 'done', refused: 'refused', unknown: 'unknown: may have run' };

/** Shows the answer and its fate on the entry. */
export function answerEdits(text: string, item: Item, approval: Approval, fate: Fate | undefined): Edit[] {
  const { answer } = approval;
  const edits: Edit[] = [];
  if (answer) {
    edits.push(...boxEdits(text, item, answer.approved ? 'done' : 'skipped'));
    edits.push(...fieldEdits(text, item, 'status', answer.approved ? 'approved' : 'rejected'));
    edits.push(...changeEdits(text, item, approval));
  }
  if (fate !== undefined) edits.push(...fieldEdits(text, item, 'fate', FATES[fate]));
  return edits;
}

/**
 * Adds the edited action or the reason of an answer given elsewhere, such as on the command line.
 */
function changeEdits(text: string, item: Item, approval: Approval): Edit[] {
  const { edited, reason } = approval.answer!;
  const { key, text: asked } = shownAction(approval);
  const instead = key === 'arguments' || edited === undefined ? edited : edited[key];
  const shown = blockText(String(fieldOf(item, key)?.value ?? ''));
  if (instead !== undefined && shown === blockText(asked)) {
    const written = escapeInvisible(typeof instead === 'string' ? instead : JSON.stringify(instead));
    return fieldEdits(text, item, 'edited', written);
  }
  if (reason !== undefined && fieldOf(item, 'reason') === undefined)
    return fieldEdits(text, item, 'reason', escapeInvisible(reason));
  return [];
}

/** Opens the box again, with a note why. */
export function askAgainEdits(text: string, item: Item, why: string): Edit[] {
  const box = item.boxSpan ? [{ ...item.boxSpan, text: '[_]' }] : [];
  return [...box, ...fieldEdits(text, item, 'note', `asked again, because ${why}`)];
}

/** The same, and the entry shows the action as it is now. */
export function showAgainEdits(text: string, item: Item, approval: Approval, why: string): Edit[] {
  const action = shownAction(approval);
  return [
    ...titleEdits(text, item, shownTitle(approval)),
    ...fieldEdits(text, item, 'status', 'pending'),
    ...fieldEdits(text, item, action.key, action.text),
    ...fieldEdits(text, item, 'description', shownDescription(approval)),
    ...fieldEdits(text, item, 'digest', shownDigest(approval)),
    ...askAgainEdits(text, item, why),
  ];
}

/** Shows control, bidi, invisible and unusual space characters as `\\u…`; newline and tab stay. */
function escapeInvisible(text: string): string {
  return text.replace(
    /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\u115f\u1160\u17b4\u17b5\u3164\uffa0]|\u034f|\p{Variation_Selector}/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`,
  );
}
