/**
 * The ways to reach a person outside of the terminal: the desktop, a command, a webhook. Text from
 * models is passed as data, never as part of a command line.
 */
import type { Env } from '../../domain/config/env.js';
import { spawn } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import type { NoticeMessage, NotifyChannels } from '../../domain/config/notify.js';
import { visible } from '../../domain/consent/visible.js';
import { problem, type Problem } from '../../domain/problem.js';

const LIMIT_MS = 10_000;
const TRIES = 3;
const RETRY_MS = 500;
const MAX_TEXT = 4000;
/** In characters; Linux allows 128 KiB for one variable. */
const MAX_VARIABLE = 30_000;

export async function notifyDesktop({ title, text }: NoticeMessage, env: Env): Promise<Problem | undefined> {
  const [head, body] = [plain(title), plain(text)];
  if (process.platform === 'darwin') {
    const script = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run'];
    return ran('osascript', [...script.flatMap((line) => ['-e', line]), head, body], env);
  }
  // The body may contain markup.
  const escaped = body.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return ran('notify-send', ['--app-name=guild', '--', head, escaped], env);
}

/** `folder`: where it runs, wherever the program was started. */
export function notifyByCommand(
  command: string,
  message: NoticeMessage,
  env: Env,
  folder: string,
): Promise<Problem | undefined> {
  const json = JSON.stringify(message);
  const more = {
    GUILD_TITLE: plain(message.title),
    GUILD_TEXT: plain(message.text),
    // A longer variable would keep the command from starting; standard input has all of it.
    ...(json.length > MAX_VARIABLE ? {} : { GUILD_NOTICE: json }),
  };
  return ran('/bin/sh', ['-c', command], { ...env, ...more }, { input: `${json}\n`, cwd: folder });
}

/** `X-Guild-Signature`: `sha256=` and the HMAC of the time, a dot and the body. */
export async function notifyByWebhook(
  { url, secretEnv }: NonNullable<NotifyChannels['webhook']>,
  message: NoticeMessage,
  env: Env,
): Promise<Problem | undefined> {
  const secret = env[secretEnv];
  if (secret === undefined || secret === '')
    return failed(`the webhook needs a secret in ${secretEnv}`, `set ${secretEnv}`);
  const body = JSON.stringify(message);
  const at = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-guild-timestamp': at,
    'x-guild-signature': `sha256=${signature}`,
    // A retry after a lost answer may be a duplicate; the receiver can tell by this id.
    'idempotency-key': createHash('sha256').update(body).digest('hex').slice(0, 32),
  };
  let last = '';
  for (let n = 0; n < TRIES; n++) {
    if (n > 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MS * 2 ** n));
    try {
      const signal = AbortSignal.timeout(LIMIT_MS);
      const { ok, status } = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
      if (ok) return undefined;
      last = `it answered ${status}`;
      if (status < 500 && status !== 429) break;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
  }
  return failed(`the webhook at ${new URL(url).host} was not reached: ${last}`, 'check notify.webhook in guild.yaml');
}

interface Given {
  input?: string;
  cwd?: string;
}

function ran(program: string, args: string[], env: Env, { input = '', cwd }: Given = {}): Promise<Problem | undefined> {
  return new Promise((resolve) => {
    const fail = (why: string): void => resolve(failed(`a notification could not be shown: ${program} ${why}`));
    try {
      const child = spawn(program, args, { env, cwd, stdio: ['pipe', 'ignore', 'ignore'], timeout: LIMIT_MS });
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
      child.once('error', (error) => fail(error.message));
      child.once('exit', (code) => (code === 0 ? resolve(undefined) : fail(`exited with ${code ?? 'a time limit'}`)));
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
  });
}

function failed(message: string, hint?: string): Problem {
  return problem('tool_failed', message, { where: { file: 'guild.yaml' }, hint });
}

function plain(text: string): string {
  return visible(text.slice(0, MAX_TEXT));
}
