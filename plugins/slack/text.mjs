/** The text of a message as people see it, and its files, which go into `inbox/files`. */
import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const MAX_FILES = 10;
const MAX_BYTES = 20 * 1024 * 1024;
const FETCH_MS = 20_000;

/** The text as people see it in Slack, and its files: where they are stored, or their names. */
export function readable({ text = '', files = [] }, stored = []) {
  const plain = text
    .replace(/<(https?:[^|>]+)\|([^>]+)>/g, '$2 ($1)')
    .replace(/<([@#!])([^|>]+)(?:\|([^>]+))?>/g, (_, kind, id, label) => `${kind === '!' ? '@' : kind}${label ?? id}`)
    .replace(/<(https?:[^>]+|mailto:[^>]+)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
  const named = files.flatMap(({ name, title }, n) => stored[n] ?? name ?? title ?? []);
  return named.length === 0 ? plain : `${plain}\n\n[attached: ${named.join(', ')}]`.trimStart();
}

/**
 * Downloads the files of a message and returns their paths, undefined for one that is not there.
 * The token goes to Slack's own hosts only. A file that cannot be downloaded is reported; the
 * message still arrives.
 */
export async function storeFiles({ files = [], channel, ts }, { workspace, env, report }) {
  if (files.length === 0 || !env.SLACK_BOT_TOKEN) return [];
  const stored = [];
  for (const file of files.slice(0, MAX_FILES)) {
    const name = safeName(file?.name ?? file?.title ?? 'file');
    try {
      const bytes = await download(file, env);
      const id = createHash('sha256')
        .update(`${channel}:${ts}:${file.id ?? name}`)
        .digest('hex')
        .slice(0, 12);
      fs.mkdirSync(path.join(workspace, 'inbox', 'files'), { recursive: true, mode: 0o700 });
      write(path.join(workspace, 'inbox', 'files', `${id}-${name}`), bytes);
      stored.push(`inbox/files/${id}-${name}`);
    } catch (error) {
      stored.push(undefined);
      report(`the file ${name} of a Slack message was not stored: ${error?.message ?? error}`);
    }
  }
  return stored;
}

async function download({ url_private_download: direct, url_private: other, size }, env) {
  const url = new URL(direct ?? other ?? '');
  if (!isSlackHost(url, env)) throw new Error(`${url.host} is not a host of Slack`);
  if (size > MAX_BYTES) throw new Error(`it has ${size} bytes; at most ${MAX_BYTES} are stored`);
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${env.SLACK_BOT_TOKEN}` },
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_MS),
  });
  if (!response.ok) throw new Error(`Slack answered ${response.status}`);
  const chunks = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Slack's own hosts, or the server that SLACK_API_URL names. */
function isSlackHost(url, env) {
  if (env.SLACK_API_URL) return url.origin === new URL(env.SLACK_API_URL).origin;
  return url.protocol === 'https:' && /(^|\.)(slack\.com|slack-edge\.com|slack-files\.com)$/.test(url.hostname);
}

/** One safe part of a path. */
function safeName(name) {
  const safe = String(name)
    .normalize('NFKC')
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[.-]+/, '');
  return safe.slice(-80) || 'file';
}

/** Never seen half-written. A link at its place is replaced, not followed. */
function write(file, bytes) {
  const tmp = path.join(path.dirname(file), `.${randomUUID()}`);
  try {
    const fd = fs.openSync(tmp, 'wx', 0o600);
    try {
      fs.writeSync(fd, bytes);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(tmp, file);
  } finally {
    fs.rmSync(tmp, { force: true });
  }
}
