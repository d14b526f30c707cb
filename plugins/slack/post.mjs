/**
 * Sends messages. Each is posted at most once: a call with an unknown outcome is reported as such
 * and never repeated automatically.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { newest, recordSent } from './messages.mjs';
import { address, official, QUIET } from './official.mjs';

/** Slack's limit for one message. */
const MAX_CHARACTERS = 40_000;
const ID = /^[CDGUW][A-Z0-9]{7,}$/;
/** Slack fetches an address that it shows a preview of, and so tells its owner what is in it. */
const NO_PREVIEWS = { unfurl_links: false, unfurl_media: false };
/** For texts that nobody approved: shown as they are, without names that call people. */
export const PLAIN = { mrkdwn: false, parse: 'none', link_names: false, ...NO_PREVIEWS };

/** Returns { success, content }, like tools and actions. */
export async function post(host, { recipient, text, thread }, options = NO_PREVIEWS) {
  const { workspace, env } = host;
  if (!recipient?.trim() || !text?.trim()) return failure('a recipient and a text are required');
  if (text.length > MAX_CHARACTERS)
    return failure(`the text has ${text.length} characters; the limit of Slack is ${MAX_CHARACTERS}`);
  const id = randomUUID();
  const line = { id, ts: new Date().toISOString(), to: recipient, text, ...(thread ? { thread } : {}) };
  if (!env.SLACK_BOT_TOKEN) {
    recordSent(workspace, { ...line, sent: false });
    return {
      success: true,
      content: `There is no Slack token, so the message to ${recipient} was not sent. It is in inbox/slack-outbox.jsonl.`,
    };
  }
  const channel = channelOf(workspace, recipient, thread);
  if (channel === undefined)
    return failure(`no message from ${recipient} has arrived yet; use a channel (#ops) or an id instead`);
  const web = await webClient(env);
  try {
    const sent = await unhurried(() =>
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- this is Slack's
      // method, not window's
      web.chat.postMessage({ ...options, channel, text: escaped(text), ...(thread ? { thread_ts: thread } : {}) }),
    );
    recordSent(workspace, { ...line, sent: true, channel: sent.channel, slack_ts: sent.ts });
    return {
      success: true,
      content: `Sent to ${recipient} on Slack.`,
      metadata: { channel: sent.channel, ts: sent.ts },
    };
  } catch (error) {
    return failure(explain(error));
  }
}

/**
 * No retries: a message that may have arrived must not be sent twice. If Slack refuses because of
 * its rate limit, nothing was sent, and Slack says when to try again.
 */
export async function webClient(env) {
  const { WebClient } = await official('@slack/web-api');
  return new WebClient(env.SLACK_BOT_TOKEN, {
    logger: QUIET,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: 30_000,
    ...address(env),
  });
}

/** A message waits at most this long for Slack to accept it. */
const MAX_WAIT_MS = 5 * 60_000;

/** Repeats a call that was refused because of a rate limit, when Slack says so. */
export async function unhurried(call, signal) {
  const end = Date.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const waitMs = Number(error?.retryAfter) * 1000;
      if (!Number.isFinite(waitMs) || Date.now() + waitMs > end || signal?.aborted) throw error;
      await pause(waitMs, signal);
    }
  }
}

/** Ends early when the signal aborts. */
export function pause(ms, signal) {
  return setTimeout(ms, undefined, { signal }).catch(() => undefined);
}

/** The three characters that have a meaning in Slack's text. */
export function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Replies where this person or channel last wrote; otherwise posts a new message. */
export async function reply(host, { recipient, text }) {
  const [last] = newest(
    host.workspace,
    1,
    (message) => same(message.from, recipient) || same(message.channel, recipient),
  );
  const isDirect = last?.channelId?.startsWith('D');
  const to = host.env.SLACK_BOT_TOKEN && last?.channelId ? last.channelId : recipient;
  const thread = isDirect ? undefined : last?.thread;
  return post(host, { recipient: to, text, thread });
}

/** A thread belongs to one channel, where the person named wrote in it. */
function channelOf(workspace, recipient, thread) {
  const name = recipient.trim();
  if (ID.test(name) || name.startsWith('#')) return name;
  const isThere = (message) => message.thread === thread && same(message.from, name);
  const [there] = thread ? newest(workspace, 1, isThere) : [];
  if (there?.channelId !== undefined) return there.channelId;
  const [last] = newest(workspace, 1, (message) => same(message.from, name));
  return last?.userId ?? last?.channelId;
}

function same(name, other) {
  const normalize = (text) => text?.trim().replace(/^@/, '').toLowerCase();
  return name !== undefined && normalize(name) === normalize(other);
}

function failure(content) {
  return { success: false, content };
}

function explain(error) {
  const code = error?.data?.error;
  if (code === 'invalid_auth' || code === 'not_authed' || code === 'token_revoked')
    return `Slack refused the token (${code}); check SLACK_BOT_TOKEN`;
  if (code === 'channel_not_found') return 'Slack has no such channel or person (channel_not_found); check the name';
  if (code === 'not_in_channel') return 'the app is not a member of that channel (not_in_channel); invite it';
  if (error?.retryAfter !== undefined)
    return `Slack allows no more messages now, and this one was not sent; try again in ${error.retryAfter} s`;
  if (code !== undefined) return `Slack refused the message: ${code}`;
  return `Slack could not be reached, and the message may or may not have been sent: ${error?.message ?? error}`;
}
