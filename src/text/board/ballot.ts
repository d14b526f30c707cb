/**
 * The text of the ballot, `tasks/approvals.task.md`: how approvals are shown and how a person's
 * marks are read. Text from agents is shown in full, with control, bidi and invisible characters
 * escaped.
 */
import { mainArgument, type Answer, type Approval, type Fate } from '../../domain/task/approval.js';
import { problem, type Problem } from '../../domain/problem.js';
import { addItem, type NewItem } from './add.js';
import { setBox, setField } from './edit.js';
import { fieldOf, type Board, type Item, parseBoard } from './parse.js';
import { blockText } from './value.js';

const BALLOT_HEAD = `# Approvals

Actions that wait for your approval. Put an x into the box of an entry to approve it, or a - to reject it (optionally with a
line \`reason: …\` below). You may edit an action before you approve it; the edited text is what runs. Deleting an entry rejects it.

## TODO
`;

const TYPES: Record<string, string> = {
  execute_command: 'terminal_command',
  write_file: 'file_write',
  slack_send: 'slack_send',
};

/** The field that shows the action, and its text. */
function shownAction({ request }: Approval): { key: string; text: string } {
  const main = mainArgument(request.tool);
  if (main !== undefined) return { key: main, text: escapeInvisible(String(request.arguments[main] ?? '')) };
  return { key: 'arguments', text: escapeInvisible(JSON.stringify(request.arguments, null, 2)) };
}

function shownTitle(approval: Approval): string {
  return escapeInvisible(approval.title).replace(/\s*[\r\n]+\s*/g, ' ');
}

function entryOf(approval: Approval): NewItem {
  const { request } = approval;
  const action = shownAction(approval);
  const about = [
    ...request.reasons.map((reason, i) => (i === 0 ? `Asked because: ${reason}` : `  ${reason}`)),
    `How it runs: ${request.confinement}`,
    ...(request.taint.length > 0 ? [`Influenced by: ${request.taint.join(', ')}`] : []),
    ...otherArguments(approval, action.key),
    ...(request.diff ? ['', 'Changes:', ...request.diff.split('\n')] : []),
  ];
  return {
    title: shownTitle(approval),
    openMark: '_',
    quote: '`',
    priority: 'A',
    stakeholders: ['human'],
    tags: ['approval'],
    fields: {
      id: approval.id,
      approval_type: TYPES[request.tool] ?? request.tool,
      agent: request.agent,
      requesting_agent_session_id: request.session,
      created: approval.created,
      risk: request.risk,
      status: 'pending',
      [action.key]: action.text,
      description: escapeInvisible(about.join('\n')),
    },
  };
}

function otherArguments({ request }: Approval, shown: string): string[] {
  if (shown === 'arguments') return [];
  return Object.entries(request.arguments).flatMap(([name, value]) =>
    name === shown ? [] : [`${name}: ${JSON.stringify(value)}`],
  );
}

export function addEntry(text: string, approval: Approval): string {
  return addItem(text === '' ? BALLOT_HEAD : text, { ...entryOf(approval), heading: 'TODO' });
}

const FATES: Readonly<Record<Fate, string>> = { done: 'done', refused: 'refused', unknown: 'unknown: may have run' };

/** Shows the answer and its fate on the entry. The rest of the text stays the same. */
export function markEntry(text: string, file: string, approval: Approval, fate: Fate | undefined): string {
  let now = text;
  const edit = (change: (item: Item) => string): void => {
    const item = parseBoard(now, file).items.find(({ id }) => id === approval.id);
    if (item) now = change(item);
  };
  const { answer } = approval;
  if (answer) {
    edit((item) => setBox(now, item, answer.approved ? 'done' : 'skipped'));
    edit((item) => setField(now, item, 'status', answer.approved ? 'approved' : 'rejected'));
    edit((item) => withAnswer(now, item, approval));
  }
  if (fate !== undefined) edit((item) => setField(now, item, 'fate', FATES[fate]));
  return now;
}

/**
 * Adds the edited action or the reason of an answer given elsewhere, such as on the command line.
 */
function withAnswer(text: string, item: Item, approval: Approval): string {
  const { edited, reason } = approval.answer!;
  const { key, text: asked } = shownAction(approval);
  const instead = key === 'arguments' || edited === undefined ? edited : edited[key];
  const shown = blockText(String(fieldOf(item, key)?.value ?? ''));
  if (instead !== undefined && shown === blockText(asked))
    return setField(
      text,
      item,
      'edited',
      escapeInvisible(typeof instead === 'string' ? instead : JSON.stringify(instead)),
    );
  if (reason !== undefined && fieldOf(item, 'reason') === undefined)
    return setField(text, item, 'reason', escapeInvisible(reason));
  return text;
}

/** Resets the entry to unanswered, with a note why. */
export function unmarkEntry(text: string, file: string, id: string): string {
  let now = text;
  const find = (): Item | undefined => parseBoard(now, file).items.find((item) => item.id === id);
  const item = find();
  if (item?.boxSpan) now = now.slice(0, item.boxSpan.start) + '[_]' + now.slice(item.boxSpan.end);
  const again = find();
  return again
    ? setField(now, again, 'note', 'asked again, because the file changed while a command ran without a sandbox')
    : now;
}

export interface Marks {
  answers: { id: string; answer: Omit<Answer, 'at'> }[];
  problems: Problem[];
  /** Ids that have an entry. */
  present: string[];
  /** Ids whose entry shows no fate yet. */
  unsettled: string[];
}

/**
 * Reads the answers to the open approvals. `isKnown` has the ids that were shown before or are
 * answered.
 */
export function readMarks(board: Board, open: readonly Approval[], isKnown: Pick<ReadonlySet<string>, 'has'>): Marks {
  const byId = new Map(open.map((approval) => [approval.id, approval]));
  const marks: Marks = { answers: [], problems: [], present: [], unsettled: [] };
  for (const item of [...board.items, ...board.rejected]) {
    if (item.id === undefined) continue;
    marks.present.push(item.id);
    if (fieldOf(item, 'fate') === undefined) marks.unsettled.push(item.id);
  }
  for (const item of board.items) {
    if (!item.tags.includes('approval') && (item.id === undefined || !byId.has(item.id))) continue;
    const approval = item.id === undefined ? undefined : byId.get(item.id);
    if (approval === undefined) {
      if (item.id === undefined || !isKnown.has(item.id)) marks.problems.push(forged(board, item));
      continue;
    }
    const answer = answerOf(board, item, approval);
    if (answer === undefined) continue;
    if ('code' in answer) marks.problems.push(answer);
    else marks.answers.push({ id: approval.id, answer });
  }
  marks.problems.push(...board.problems.filter(({ severity }) => severity === 'error'));
  return marks;
}

function answerOf(board: Board, item: Item, approval: Approval): Omit<Answer, 'at'> | Problem | undefined {
  if (item.box !== 'done' && item.box !== 'skipped') return undefined;
  const reason = textOf(item, 'reason') ?? textOf(item, 'rejection_reason');
  const by = textOf(item, 'approved_by') ?? textOf(item, 'rejected_by') ?? 'human';
  if (item.box === 'skipped') return { approved: false, by, ...(reason ? { reason } : {}) };
  const action = shownAction(approval);
  const field = fieldOf(item, action.key);
  if (field === undefined)
    return invalidAnswer(board, item, `the line ${action.key}: is missing, so the action is not shown`);
  const below = blockText(String(field.value));
  const above = item.title === shownTitle(approval) ? undefined : commandInTitle(item, approval);
  const isSame = below === blockText(action.text);
  if (above === undefined && item.title !== shownTitle(approval)) {
    return invalidAnswer(board, item, 'its title was changed; edit the action below it instead');
  }
  if (above !== undefined && !isSame && above !== below)
    return invalidAnswer(board, item, 'the edited title and action do not agree');
  if (above === undefined && isSame) return { approved: true, by, ...(reason ? { reason } : {}) };
  const edited = editedArguments(approval, action, isSame ? above! : below);
  if (edited === undefined) return invalidAnswer(board, item, 'the edited action cannot be read');
  return { approved: true, by, edited, ...(reason ? { reason } : {}) };
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
  try {
    const value = JSON.parse(now) as unknown;
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function textOf(item: Item, key: string): string | undefined {
  const value = fieldOf(item, key)?.value;
  return value === undefined || String(value).trim() === '' ? undefined : String(value);
}

function forged(board: Board, item: Item): Problem {
  return problem(
    'not_allowed',
    `no approval ${item.id ?? 'without an id'} was ever asked for, so this entry does not count`,
    {
      where: { file: board.file, line: item.line },
      hint: 'remove the entry; guild approve lists the open approvals',
    },
  );
}

function invalidAnswer(board: Board, item: Item, why: string): Problem {
  return problem('not_allowed', `the answer to ${item.id} does not count: ${why}`, {
    where: { file: board.file, line: item.line },
    hint: `answer with guild approve ${item.id} or guild reject ${item.id}, or restore the entry`,
  });
}

/** Shows control, bidi, invisible and unusual space characters as `\\u…`; newline and tab stay. */
function escapeInvisible(text: string): string {
  return text.replace(
    /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\u115f\u1160\u17b4\u17b5\u3164\uffa0]|\u034f|\p{Variation_Selector}/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`,
  );
}
