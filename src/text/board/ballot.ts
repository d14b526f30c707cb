/**
 * The ballot: `tasks/approvals.task.md`. What an approval looks like on it, and what a person's marks on it mean. Every
 * word on it is ours: text from agents is shown with its control, bidi and invisible characters as escapes, whole, never cut.
 */
import { mainArgument, type Answer, type Approval, type Fate } from '../../domain/task/approval.js';
import { problem, type Problem } from '../../domain/problem.js';
import { addItem, type NewItem } from './add.js';
import { setBox, setField } from './edit.js';
import { fieldOf, type Board, type Item, parseBoard } from './parse.js';
import { blockText } from './value.js';

const BALLOT_HEAD = `# Approvals

What waits for you. Put an x into the box of an entry to allow it, or a - to refuse it (with a line \`reason: …\` below, if you
like). You may edit the action before you allow it: what you wrote is what runs. Deleting an entry refuses it.

## TODO
`;

const TYPES: Record<string, string> = {
  execute_command: 'terminal_command',
  write_file: 'file_write',
  slack_send: 'slack_send',
};

/** The field that shows the action, and the text in it. */
function shownAction({ request }: Approval): { key: string; text: string } {
  const main = mainArgument(request.tool);
  if (main !== undefined) return { key: main, text: escaped(String(request.arguments[main] ?? '')) };
  return { key: 'arguments', text: escaped(JSON.stringify(request.arguments, null, 2)) };
}

function shownTitle(approval: Approval): string {
  return escaped(approval.title).replace(/\s*[\r\n]+\s*/g, ' ');
}

function entryOf(approval: Approval): NewItem {
  const { request } = approval;
  const action = shownAction(approval);
  const about = [
    ...request.reasons.map((reason, i) => (i === 0 ? `Asked because: ${reason}` : `  ${reason}`)),
    `How it runs: ${request.confinement}`,
    ...(request.taint.length > 0 ? [`Influenced by: ${request.taint.join(', ')}`] : []),
    ...otherArguments(approval, action.key),
    ...(request.diff ? ['', 'What would change:', ...request.diff.split('\n')] : []),
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
      description: escaped(about.join('\n')),
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

/** The answer and what became of it, on the entry; nothing else of the text changes. */
export function markEntry(text: string, file: string, approval: Approval, fate: Fate | undefined): string {
  let now = text;
  const edit = (change: (item: Item) => string): void => {
    const item = parseBoard(now, file).items.find((one) => one.id === approval.id);
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

/** What was answered elsewhere, such as on the command line: what ran instead of what the entry shows, and why it was refused. */
function withAnswer(text: string, item: Item, approval: Approval): string {
  const { edited, reason } = approval.answer!;
  const { key, text: asked } = shownAction(approval);
  const instead = key === 'arguments' || edited === undefined ? edited : edited[key];
  const shown = blockText(String(fieldOf(item, key)?.value ?? ''));
  if (instead !== undefined && shown === blockText(asked))
    return setField(text, item, 'edited', escaped(typeof instead === 'string' ? instead : JSON.stringify(instead)));
  if (reason !== undefined && fieldOf(item, 'reason') === undefined)
    return setField(text, item, 'reason', escaped(reason));
  return text;
}

/** Back to an open question, with a word on why. */
export function unmarkEntry(text: string, file: string, id: string): string {
  let now = text;
  const find = (): Item | undefined => parseBoard(now, file).items.find((one) => one.id === id);
  const item = find();
  if (item?.boxSpan) now = now.slice(0, item.boxSpan.start) + '[_]' + now.slice(item.boxSpan.end);
  const again = find();
  return again
    ? setField(now, again, 'note', 'asked again: the file changed while a command ran without a sandbox')
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

/** What the marks on the ballot say to the open approvals. `known`: ids that were shown before, or are over. */
export function readMarks(board: Board, open: readonly Approval[], known: Pick<ReadonlySet<string>, 'has'>): Marks {
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
      if (item.id === undefined || !known.has(item.id)) marks.problems.push(forged(board, item));
      continue;
    }
    const said = answerOf(board, item, approval);
    if (said === undefined) continue;
    if ('code' in said) marks.problems.push(said);
    else marks.answers.push({ id: approval.id, answer: said });
  }
  for (const one of board.problems) if (one.severity === 'error') marks.problems.push(one);
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
    return changed(board, item, `the line ${action.key}: is gone, so what would run is not shown`);
  const below = blockText(String(field.value));
  const above = item.title === shownTitle(approval) ? undefined : commandInTitle(item, approval);
  const isSame = below === blockText(action.text);
  if (above === undefined && item.title !== shownTitle(approval)) {
    return changed(board, item, 'the title is not the one that was shown; edit the action below it instead');
  }
  if (above !== undefined && !isSame && above !== below)
    return changed(board, item, 'title and action were edited and do not agree');
  if (above === undefined && isSame) return { approved: true, by, ...(reason ? { reason } : {}) };
  const edited = editedArguments(approval, action, isSame ? above! : below);
  if (edited === undefined) return changed(board, item, 'the action was edited in a way that cannot be understood');
  return { approved: true, by, edited, ...(reason ? { reason } : {}) };
}

/** People edit where they read: a command of one line may also be changed in the title. */
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
    // Where the text was shown with escapes, an edit of it would not be an edit of the action.
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
    `no approval ${item.id ?? 'without an id'} was ever asked for; this entry counts for nothing`,
    {
      where: { file: board.file, line: item.line },
      hint: 'remove the entry; guild approve lists what is really asked',
    },
  );
}

function changed(board: Board, item: Item, why: string): Problem {
  return problem('not_allowed', `the answer to ${item.id} does not count: ${why}`, {
    where: { file: board.file, line: item.line },
    hint: `answer with guild approve ${item.id} or guild reject ${item.id}, or put the entry back as it was`,
  });
}

/** Control, bidi, invisible and odd blank characters as `\\u…`; newline and tab stay. */
function escaped(text: string): string {
  return text.replace(
    /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\u115f\u1160\u17b4\u17b5\u3164\uffa0]|\u034f|\p{Variation_Selector}/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`,
  );
}
