/**
 * Mail: a message from outside, one line of a file under `inbox/`. It is untrusted data: its origin
 * stays with it, and every name in it is sanitised before it appears outside a fence.
 */
export interface Mail {
  /**
   * The id of the task it becomes, derived from the line, so that reading it twice creates one
   * task.
   */
  task: string;
  /** The file it came from: `inbox/slack-messages.jsonl`. */
  file: string;
  line: number;
  /** The service it came from: the first word of the file name, `slack`. */
  source: string;
  text: string;
  /** The other fields, as the line has them. */
  id?: string;
  at?: string;
  from?: string;
  channel?: string;
  to?: string;
  subject?: string;
  thread?: string;
  inReplyTo?: string;
  /** The task of that message, whose conversation it continues. */
  follows?: string;
}

/** The record may have come from anywhere. */
export function isMail(value: unknown): value is Mail {
  if (typeof value !== 'object' || value === null) return false;
  const { line, ...texts } = value as Mail;
  const { task, file, source, text } = texts;
  return (
    typeof line === 'number' &&
    [task, file, source, text].every((one) => typeof one === 'string') &&
    Object.values(texts).every((one) => one === undefined || typeof one === 'string')
  );
}

/** The fields of a line, before its origin is added. */
export type MailFields = Omit<Mail, 'task' | 'file' | 'line' | 'source' | 'follows'>;

/** `slack-messages.jsonl` and `slack-messages.jsonl.1` → `slack`. */
export function sourceOf(file: string): string {
  const word = /^[A-Za-z0-9]+/.exec(file.slice(file.lastIndexOf('/') + 1))?.[0].toLowerCase() ?? '';
  return word === '' || word === 'inbox' || word === 'messages' ? 'inbox' : word;
}

/** The taint that a message passes on, such as `slack/sarah`. */
export function taintOf(mail: Pick<Mail, 'source' | 'from'>): string {
  return `${mail.source}/${plainName(mail.from) || 'unknown'}`;
}

/** A name that is safe inside a prompt: too restricted to contain a sentence. */
export function plainName(name: string | undefined): string {
  return (name ?? '')
    .replace(/[^\p{L}\p{N}@#+._-]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
}

// eslint-disable-next-line no-control-regex
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/gu;

/** Escapes characters that hide or reorder text or control a terminal; newlines and tabs stay. */
export function visible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSEEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}
