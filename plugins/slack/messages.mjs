/** The two files this plugin shares with the workspace: incoming and outgoing messages. */
import fs from 'node:fs';
import path from 'node:path';

const IN = 'slack-messages.jsonl';
const OUT = 'slack-outbox.jsonl';
const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
const TAIL_BYTES = 1024 * 1024;

/** The newest `limit` readable messages, oldest first. Reads only the end of the file. */
export function newest(workspace, limit, fits = () => true) {
  const lines = tail(path.join(workspace, 'inbox', IN))
    .split('\n')
    .slice(0, -1);
  const messages = [];
  for (const line of lines.reverse()) {
    const message = parseMessage(line);
    if (message !== undefined && fits(message)) messages.push(message);
    if (messages.length >= limit) break;
  }
  return messages.reverse();
}

/** Appends a line to the outbox. Durable when it returns. */
export function recordSent(workspace, line) {
  const folder = path.join(workspace, 'inbox');
  fs.mkdirSync(folder, { recursive: true });
  const fd = fs.openSync(path.join(folder, OUT), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644);
  try {
    const { size } = fs.fstatSync(fd);
    const last = Buffer.alloc(1);
    const torn = size > 0 && fs.readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
    fs.writeSync(fd, `${torn ? '\n' : ''}${JSON.stringify(line)}\n`);
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function tail(file) {
  let fd;
  try {
    fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return '';
  }
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) return '';
    const bytes = Buffer.alloc(Math.min(stat.size, TAIL_BYTES));
    fs.readSync(fd, bytes, 0, bytes.length, stat.size - bytes.length);
    return bytes.toString('utf8');
  } finally {
    fs.closeSync(fd);
  }
}

/** Accepts the field names of other bridges too. Undefined if the line is not a message. */
function parseMessage(line) {
  let json;
  try {
    json = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof json !== 'object' || json === null) return undefined;
  const field = (...names) =>
    names.map((name) => json[name]).find((value) => typeof value === 'string' && value !== '');
  const text = field('text', 'message', 'content', 'body');
  if (text === undefined) return undefined;
  return {
    text,
    ts: field('ts', 'timestamp'),
    from: field('from', 'user', 'sender'),
    channel: field('channel'),
    thread: field('thread', 'thread_ts'),
    userId: field('user_id'),
    channelId: field('channel_id'),
  };
}
