/**
 * Receives messages by Socket Mode. Each is durable in the inbox before it is acknowledged;
 * otherwise Slack sends it again, and its id keeps it one message. Reconnecting is done here,
 * because the package's own reconnect ends the whole process when it fails.
 */
import { address, official, QUIET } from './official.mjs';

const KINDS = new Set([undefined, 'file_share', 'thread_broadcast', 'me_message']);
const FATAL = new Set(['invalid_auth', 'not_authed', 'account_inactive', 'not_allowed_token_type', 'missing_scope']);
const MAX_PAUSE_MS = 60_000;

/**
 * Resolves when `signal` aborts, or immediately without a token. Throws if Slack refuses the token.
 */
export async function listen({ workspace, env, config, signal, deliver, report }) {
  if (!env.SLACK_APP_TOKEN || signal.aborted) return;
  const { SocketModeClient } = await official('@slack/socket-mode');
  const names = await directory(workspace, env);
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
      await Promise.race([disconnected, aborted(signal)]);
    } catch (error) {
      if (FATAL.has(error?.data?.error))
        throw new Error(`Slack refused the token (${error.data.error}); check SLACK_APP_TOKEN`, { cause: error });
      if (failures === 0) report(`Slack cannot be reached, retrying: ${error?.message ?? 'the connection closed'}`);
    }
    if (signal.aborted) await Promise.race([client.disconnect().catch(() => {}), pause(1000)]);
    else await pause(Math.min(MAX_PAUSE_MS, 500 * 2 ** failures++), signal);
  }

  async function receive({ ack, type, body }) {
    try {
      const message = type === 'events_api' ? await lineOf(body?.event, names, config) : undefined;
      if (message) await deliver(message);
      await ack();
    } catch (error) {
      report(`a message from Slack could not be stored; Slack will send it again: ${error?.message ?? error}`);
    }
  }
}

/**
 * The inbox line for an event; undefined if it is not a person's message in a configured channel.
 */
async function lineOf(event, names, config) {
  if (event?.type !== 'message' && event?.type !== 'app_mention') return undefined;
  if (event.bot_id || !event.user || event.user === names.self || !KINDS.has(event.subtype) || !event.text)
    return undefined;
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
    text: readable(event),
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

/** The text as people see it in Slack, and the names of attached files. */
function readable({ text, files = [] }) {
  const plain = text
    .replace(/<(https?:[^|>]+)\|([^>]+)>/g, '$2 ($1)')
    .replace(/<([@#!])([^|>]+)(?:\|([^>]+))?>/g, (_, kind, id, label) => `${kind === '!' ? '@' : kind}${label ?? id}`)
    .replace(/<(https?:[^>]+|mailto:[^>]+)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
  const named = files.flatMap(({ name, title }) => name ?? title ?? []);
  return named.length === 0 ? plain : `${plain}\n\n[attached: ${named.join(', ')}]`;
}

function aborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', resolve, { once: true });
  });
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
