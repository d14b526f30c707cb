/**
 * Receives messages by Socket Mode. Each is durable in the inbox before it is acknowledged;
 * otherwise Slack sends it again, and its id keeps it one message. Reconnecting is done here,
 * because the package's own reconnect ends the whole process when it fails.
 */
import { address, official, QUIET } from './official.mjs';
import { pause } from './post.mjs';
import { postRequests, requestSettings, takeReply } from './requests.mjs';
import { readable, storeFiles } from './text.mjs';

const KINDS = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);
const FATAL = new Set(['invalid_auth', 'not_authed', 'account_inactive', 'not_allowed_token_type', 'missing_scope']);
const MAX_PAUSE_MS = 60_000;

/**
 * Resolves when `signal` aborts, or immediately without a token. Throws if Slack refuses the token.
 */
export async function listen(host) {
  const { workspace, env, config, signal, deliver, report } = host;
  if (!env.SLACK_APP_TOKEN || signal.aborted) return;
  const { SocketModeClient } = await official('@slack/socket-mode');
  const names = await directory(workspace, env);
  const requests = requestSettings(config);
  if (typeof requests === 'string') throw new Error(requests);
  if (requests && !env.SLACK_BOT_TOKEN) throw new Error('requests on Slack need SLACK_BOT_TOKEN');
  const posting = requests && host.desk ? postRequests(host, requests) : undefined;
  const taken = new Set();
  const stopped = aborted(signal);
  let failures = 0;
  while (!signal.aborted) {
    const client = new SocketModeClient({
      appToken: env.SLACK_APP_TOKEN,
      autoReconnectEnabled: false,
      logger: QUIET,
      clientOptions: { retryConfig: { retries: 1 }, ...address(env) },
    });
    client.on('slack_event', (event) => void receive(event));
    const disconnected = new Promise((resolve) => client.on('disconnected', resolve));
    try {
      await client.start();
      failures = 0;
      await Promise.race([disconnected, stopped]);
    } catch (error) {
      if (FATAL.has(error?.data?.error))
        throw new Error(`Slack refused the token (${error.data.error}); check SLACK_APP_TOKEN`, { cause: error });
      if (failures === 0) report(`Slack cannot be reached, retrying: ${error?.message ?? 'the connection closed'}`);
    }
    if (signal.aborted) await Promise.race([client.disconnect().catch(() => {}), pause(1000)]);
    else await pause(Math.min(MAX_PAUSE_MS, 500 * 2 ** failures++), signal);
  }
  await posting;

  async function receive({ ack, type, body }) {
    try {
      const event = type === 'events_api' && isFromPerson(body?.event, names) ? body.event : undefined;
      if (event !== undefined && !(await isReply(event))) {
        const message = await lineOf(event, names, config);
        if (message) await deliver({ ...message, text: readable(event, await storeFiles(event, host)) });
      }
      await ack();
    } catch (error) {
      report(`a message from Slack could not be stored; Slack will send it again: ${error?.message ?? error}`);
    }
  }

  /** Slack sends an event again if it was acknowledged late; a reply is taken once. */
  async function isReply(event) {
    if (posting === undefined || event.type !== 'message') return false;
    const key = `${event.channel}:${event.ts}`;
    if (taken.has(key)) return true;
    const isTaken = await takeReply(event, host, requests);
    if (isTaken) taken.add(key);
    return isTaken;
  }
}

function isFromPerson(event, names) {
  if (event?.type !== 'message' && event?.type !== 'app_mention') return false;
  if (event.bot_id || !event.user || event.user === names.self || !KINDS.has(event.subtype)) return false;
  return Boolean(event.text) || event.files?.length > 0;
}

/** The inbox line for a person's message; undefined if its channel is not a configured one. */
async function lineOf(event, names, config) {
  const channel = await names.channel(event.channel);
  const channels = config?.channels;
  if (Array.isArray(channels) && !channels.includes(event.channel) && !channels.includes(channel)) return undefined;
  return {
    id: `${event.channel}:${event.ts}`,
    ts: new Date(Number(event.ts) * 1000).toISOString(),
    from: await names.person(event.user),
    user_id: event.user,
    channel,
    channel_id: event.channel,
    thread: event.thread_ts ?? event.ts,
    // A reply in a thread continues the conversation that its first message started.
    ...(event.thread_ts && event.thread_ts !== event.ts ? { in_reply_to: `${event.channel}:${event.thread_ts}` } : {}),
  };
}

/** Looks up names for ids, once each. If Slack does not answer soon, the id itself is used. */
async function directory(workspace, env) {
  if (!env.SLACK_BOT_TOKEN) return { self: undefined, person: async (id) => id, channel: async (id) => id };
  const { WebClient } = await official('@slack/web-api');
  const web = new WebClient(env.SLACK_BOT_TOKEN, {
    logger: QUIET,
    retryConfig: { retries: 0 },
    timeout: 5000,
    rejectRateLimitedCalls: true,
    ...address(env),
  });
  const names = new Map();
  const ask = async (id, call) => {
    if (names.has(id)) return names.get(id);
    // An event must be acknowledged within three seconds.
    const name = await Promise.race([call().catch(() => undefined), pause(1000)]);
    if (name) names.set(id, name);
    return name || id;
  };
  const self = await web.auth.test().then(
    (answer) => answer.user_id,
    () => undefined,
  );
  return {
    self,
    person: (id) =>
      ask(id, async () => {
        const { user } = await web.users.info({ user: id });
        return user?.profile?.display_name || user?.real_name || user?.name;
      }),
    channel: (id) =>
      ask(id, async () => {
        const { channel } = await web.conversations.info({ channel: id });
        return channel?.name ? `#${channel.name}` : undefined;
      }),
  };
}

function aborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', resolve, { once: true });
  });
}
