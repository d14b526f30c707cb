/**
 * Draws a request for a person. File, terminal, JSON and every later surface show this and nothing
 * else, so a person sees the same everywhere. Headings are the program's words; an agent's text is
 * always a value. A field of the request that has no heading here is drawn under its own name, so
 * nothing that the digest covers is left out.
 */
import { defined } from '../defined.js';
import { mainArgument, type Approval, type ApprovalRequest } from '../task/approval.js';
import type { Question } from '../task/question.js';
import { visible } from './visible.js';

export interface Drawn {
  title: string;
  /** The argument that a person may edit, and its text; `arguments`: all arguments, as JSON. */
  action: { key: string; text: string };
  /** Everything else that a person must know, one fact per line. */
  about: string[];
  /** The same, for a surface that has its own headings. `again`: why it is asked again. */
  facts: { asked: string[]; runs: string; more: string[]; again: string[]; diff: string[] };
  /** Why it is asked again, and the lines of the diff; empty if no file changes. */
  changes: string[];
  risk?: ApprovalRequest['risk'];
  /** Of a question: the possible answers, and the one that is preselected. */
  question?: { choices?: string[]; default?: string };
  /** An answer must name it. It identifies everything that was drawn. */
  digest: string;
}

/** `elsewhere`: the machine that asks, if its words cannot be checked here. */
export function draw({
  title,
  request,
  elsewhere,
}: Pick<Approval, 'title' | 'request'> & { elsewhere?: string }): Drawn {
  const action = actionOf(request);
  const [again, diff] = [linesOf(request.changed), linesOf(request.diff)];
  const origin = elsewhere === undefined ? [] : [`Asked on: ${flat(elsewhere)}, whose words cannot be checked here`];
  const lines = request.question ? questionLines(request) : aboutLines(request, action.key);
  return defined({
    title: visible(title).replace(/\s*\n\s*/g, ' '),
    action,
    about: [...lines, ...origin].map(visible),
    facts: {
      asked: request.reasons.map((reason) => visible(flat(reason))),
      runs: visible(flat(request.confinement)),
      more: [...(request.question ? [] : moreLines(request, action.key)), ...origin].map(visible),
      again,
      diff,
    },
    question: request.question ? drawnQuestion(request.question) : undefined,
    changes: [...(again.length > 0 ? ['Why it is asked again:', ...again, ''] : []), ...diff],
    risk: request.risk,
    digest: request.digest,
  });
}

function linesOf(text: string | undefined): string[] {
  return text ? visible(text).split('\n') : [];
}

function actionOf({ tool, arguments: args }: ApprovalRequest): Drawn['action'] {
  const main = mainArgument(tool);
  if (main !== undefined && typeof args[main] === 'string') return { key: main, text: visible(args[main]) };
  return { key: 'arguments', text: visible(JSON.stringify(args, null, 2)) };
}

/** Nothing runs, so there is no confinement and no risk. */
function questionLines({ taint, question }: ApprovalRequest): string[] {
  const { choices, default: preselected } = question!;
  const answers = (choices ?? []).map((choice) => `- ${choice}${choice === preselected ? ' (preselected)' : ''}`);
  return [
    ...(choices === undefined ? [] : ['Choices:', ...answers]),
    ...(choices !== undefined || preselected === undefined ? [] : [`Preselected: ${flat(preselected)}`]),
    ...(taint.length > 0 ? [`Influenced by: ${taint.map(flat).join(', ')}`] : []),
  ];
}

function drawnQuestion({ choices, default: preselected }: Question): NonNullable<Drawn['question']> {
  return defined({
    choices: choices?.map(visible),
    default: preselected === undefined ? undefined : visible(preselected),
  });
}

function aboutLines(request: ApprovalRequest, shown: string): string[] {
  const { reasons, confinement } = request;
  return [
    ...reasons.map((reason, i) => (i === 0 ? `Asked because: ${flat(reason)}` : `  ${flat(reason)}`)),
    `How it runs: ${flat(confinement)}`,
    ...moreLines(request, shown),
  ];
}

function moreLines(request: ApprovalRequest, shown: string): string[] {
  const { taint, plugin, hosts, content, base } = request;
  return [
    ...(hosts ? [`Hosts it may reach: ${hosts.map(flat).join(', ')}`] : []),
    ...(content ? [`Content: ${flat(content.text)}`] : []),
    ...(base ? [baseLine(base)] : []),
    ...(plugin === undefined ? [] : [`Tool of the plugin: ${plugin}`]),
    ...(taint.length > 0 ? [`Influenced by: ${taint.map(flat).join(', ')}`] : []),
    ...moreFields(request),
    ...otherArguments(request, shown),
  ];
}

function baseLine({ path, sha256 }: NonNullable<ApprovalRequest['base']>): string {
  if (sha256 === 'missing') return `Creates: ${flat(path)}`;
  return `Made against: ${flat(path)} (sha256 ${sha256.slice(0, 12)})`;
}

/** Fields that are drawn elsewhere, or that mean nothing to a person. */
const DRAWN = new Set(
  'title seal tool arguments digest agent session call reasons risk taint confinement diff plugin asked walls hosts content base changed question mail'.split(
    ' ',
  ),
);

function moreFields(request: ApprovalRequest): string[] {
  return Object.entries(request).flatMap(([name, value]) =>
    DRAWN.has(name) || value === undefined ? [] : [`${heading(name)}: ${valueText(value)}`],
  );
}

/** `baseHash` and `base_hash` become `Base hash`. */
function heading(name: string): string {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return flat(value);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.map(flat).join(', ');
  return JSON.stringify(value);
}

/** `with` separates names that an agent chose from the program's headings. */
function otherArguments({ arguments: args }: ApprovalRequest, shown: string): string[] {
  if (shown === 'arguments') return [];
  return Object.entries(args).flatMap(([name, value]) =>
    name === shown ? [] : [`with ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)}`],
  );
}

/** On one line, so that no value can look like another heading. */
function flat(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ');
}
