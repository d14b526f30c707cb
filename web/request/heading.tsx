/** A request in one line: the program's words, and the agent's part in another type. */
import type { JSX } from 'preact';
import type { Request } from '../../src/web/base/contract.ts';
import type { IconName } from '../icons.tsx';
import { visible } from '../text.ts';
import { changedLines } from './diff.tsx';

export function Heading({ request }: { request: Request }): JSX.Element {
  const { act, object } = request.heading;
  return (
    <>
      {act} {object !== '' && <code>{object}</code>}
    </>
  );
}

const ICONS: Record<Request['kind'], IconName> = {
  command: 'term',
  file: 'file',
  agent: 'robot',
  message: 'chat',
  plan: 'tasks',
  question: 'q',
  rule: 'shield',
  other: 'you',
};

const WORDS: Record<Request['kind'], string> = {
  command: 'command',
  file: 'file change',
  agent: 'new agent',
  message: 'message',
  plan: 'plan',
  question: 'question',
  rule: 'rule',
  other: 'request',
};

export function requestIcon({ kind, answer, answeredAt }: Request): IconName {
  if (answer === undefined) return answeredAt === undefined ? ICONS[kind] : 'off';
  return answer.approved ? 'done' : 'cancel';
}

export function requestTone({ answer, answeredAt }: Request): string {
  if (answer === undefined) return answeredAt === undefined ? 's-you' : 's-off';
  return answer.approved ? 's-done' : 's-off';
}

export function kindWord({ kind }: Request): string {
  return WORDS[kind];
}

/** `+2 −1` of a file change, otherwise the risk. */
export function sizeOf({ changes, risk, question }: Request): string {
  if (question !== undefined) return 'question';
  if (changes.length > 0) {
    const { added, removed } = changedLines(changes);
    return `+${added} −${removed}`;
  }
  return risk === undefined ? '' : `${risk[0]}${risk.slice(1).toLowerCase()} risk`;
}

export function outcome({ answer }: Request): string {
  if (answer === undefined) return '';
  if (answer.text !== undefined) return `answered: “${visible(answer.text)}”`;
  if (!answer.approved) return answer.reason === undefined ? 'rejected' : `rejected: “${visible(answer.reason)}”`;
  return answer.edited !== undefined ? 'approved with edits' : 'approved';
}
