/** The two files this plugin shares with the workspace: messages that came, and messages that went out. */
import fs from 'node:fs';
import path from 'node:path';

const IN = 'slack-messages.jsonl';
const OUT = 'slack-outbox.jsonl';
const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
const TAIL_BYTES = 1024 * 1024;

/** The newest `limit` messages that can be read, oldest first. Only the end of the file is looked at. */
export function newest(workspace, limit, fits = () => true) {
  const lines = tail(path.join(workspace, 'inbox', IN))
    .split('\n')
    .slice(0, -1);
  const found = [];
  for (const line of lines.reverse()) {
    const message = parsed(line);
    if (message !== undefined && fits(message)) found.push(message);
    if (found.length >= limit) break;
  }
  return found.reverse();
}

/** Durable when it returns. */
export function keepSent(workspace, line) {
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

/** A message in the one form the rest of this plugin uses, whoever wrote the line. */
function parsed(line) {
  let given;
  try {
    given = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof given !== 'object' || given === null) return undefined;
  const word = (...names) => names.map((name) => given[name]).find((one) => typeof one === 'string' && one !== '');
  const text = word('text', 'message', 'content', 'body');
  if (text === undefined) return undefined;
  return {
    text,
    ts: word('ts', 'timestamp'),
    from: word('from', 'user', 'sender'),
    channel: word('channel'),
    thread: word('thread', 'thread_ts'),
    userId: word('user_id'),
    channelId: word('channel_id'),
  };
}
