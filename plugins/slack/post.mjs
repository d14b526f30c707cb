/** Messages out. Each is posted at most once: a call that failed half-way is told as that and never repeated by itself. */
import { randomUUID } from 'node:crypto';
import { keepSent, newest } from './messages.mjs';
import { address, official, QUIET } from './official.mjs';

const MOST = 40_000; // characters Slack takes
const ID = /^[CDGUW][A-Z0-9]{7,}$/;

/** Answers { success, content }, as tools and actions do. */
export async function post(office, { recipient, text, thread }) {
  const { workspace, env } = office;
  if (!recipient?.trim() || !text?.trim()) return no('a recipient and a text are needed');
  if (text.length > MOST) return no(`the text has ${text.length} characters; Slack takes ${MOST}`);
  const id = randomUUID();
  const line = { id, ts: new Date().toISOString(), to: recipient, text, ...(thread ? { thread } : {}) };
  if (!env.SLACK_BOT_TOKEN) {
    keepSent(workspace, { ...line, sent: false });
    return {
      success: true,
      content: `There is no Slack token, so the message to ${recipient} was put into inbox/slack-outbox.jsonl.`,
    };
  }
  const channel = channelOf(workspace, recipient);
  if (channel === undefined) return no(`nobody called ${recipient} has written yet; name a channel (#ops) or an id`);
  const { WebClient } = await official('@slack/web-api', workspace);
  // No repeats: a message that may have arrived must not arrive twice. (A refusal for haste is waited for: nothing was sent.)
  const web = new WebClient(env.SLACK_BOT_TOKEN, {
    logger: QUIET,
    retryConfig: { retries: 0 },
    timeout: 30_000,
    ...address(env),
  });
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a method of Slack's, not of a window
    const sent = await web.chat.postMessage({ channel, text, ...(thread ? { thread_ts: thread } : {}) });
    keepSent(workspace, { ...line, sent: true, channel: sent.channel, slack_ts: sent.ts });
    return {
      success: true,
      content: `Sent to ${recipient} on Slack.`,
      metadata: { channel: sent.channel, ts: sent.ts },
    };
  } catch (error) {
    return no(whyNot(error));
  }
}

/** In the thread, or the conversation, of the newest message from this person or channel; else as any message. */
export async function reply(office, { recipient, text }) {
  const [last] = newest(
    office.workspace,
    1,
    (message) => same(message.from, recipient) || same(message.channel, recipient),
  );
  const isDirect = last?.channelId?.startsWith('D');
  const to = office.env.SLACK_BOT_TOKEN && last?.channelId ? last.channelId : recipient;
  const thread = isDirect ? undefined : last?.thread;
  return post(office, { recipient: to, text, thread });
}

function channelOf(workspace, recipient) {
  const name = recipient.trim();
  if (ID.test(name) || name.startsWith('#')) return name;
  const [last] = newest(workspace, 1, (message) => same(message.from, name));
  return last?.userId ?? last?.channelId;
}

function same(known, asked) {
  const plain = (name) => name?.trim().replace(/^@/, '').toLowerCase();
  return known !== undefined && plain(known) === plain(asked);
}

function no(content) {
  return { success: false, content };
}

function whyNot(error) {
  const said = error?.data?.error;
  if (said === 'invalid_auth' || said === 'not_authed' || said === 'token_revoked')
    return `Slack refused the token (${said}); look at SLACK_BOT_TOKEN`;
  if (said === 'channel_not_found') return 'Slack knows no such channel or person (channel_not_found)';
  if (said === 'not_in_channel') return 'the app is not a member of that channel (not_in_channel); invite it there';
  if (said !== undefined) return `Slack refused the message: ${said}`;
  return `Slack could not be reached, and the message may or may not have been sent: ${error?.message ?? error}`;
}
