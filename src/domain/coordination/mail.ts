/**
 * Mail: a message from outside, one line of a file under `inbox/`. Nobody in the workspace wrote it, so it is data: it is
 * carried with where it came from, and every name in it is made harmless before it stands anywhere outside its fence.
 */
export interface Mail {
  /** The id of the task it becomes: the same whoever reads the line, and however often. */
  task: string;
  /** Where it was read: `inbox/slack-messages.jsonl`. */
  file: string;
  line: number;
  /** The service it came by: the first word of the file's name, `slack`. */
  source: string;
  text: string;
  /** What the line says beyond its text, as it says it. */
  id?: string;
  at?: string;
  from?: string;
  channel?: string;
  to?: string;
  subject?: string;
  thread?: string;
}

/** What a line says, before it is known which message it is. */
export type MailFields = Omit<Mail, 'task' | 'file' | 'line' | 'source'>;

/** `slack-messages.jsonl` and `slack-messages.jsonl.1` → `slack`. */
export function sourceOf(file: string): string {
  const word = /^[A-Za-z0-9]+/.exec(file.slice(file.lastIndexOf('/') + 1))?.[0].toLowerCase() ?? '';
  return word === '' || word === 'inbox' || word === 'messages' ? 'inbox' : word;
}

/** Who influenced what follows: `slack/sarah`. */
export function taintOf(mail: Pick<Mail, 'source' | 'from'>): string {
  return `${mail.source}/${plainName(mail.from) || 'unknown'}`;
}

/** A name as it may stand in a sentence of ours: no sentence of its own fits into it. */
export function plainName(name: string | undefined): string {
  return (name ?? '')
    .replace(/[^\p{L}\p{N}@#+._-]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
}

// eslint-disable-next-line no-control-regex
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/gu;

/** Characters that hide, reorder or drive a terminal, as escapes; newline and tab stay. */
export function visible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSEEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}
