/**
 * Questions and requests on Slack: `plugins: {slack: {requests: {to: U…, from: [U…]}}}`. Each is
 * posted to `to`; a reply in its thread by a person of `from` answers it. A reply by anybody else
 * changes nothing.
 */
import { escaped, pause, PLAIN, unhurried, webClient } from './post.mjs';

const LOOK_MS = 2000;
const PERSON = /^[UW][A-Z0-9]{7,}$/;

/** The settings, or a sentence on what is wrong with them; undefined if there are none. */
export function requestSettings(config) {
  const settings = config?.requests;
  if (settings === undefined) return undefined;
  const { to, from = [to] } = settings ?? {};
  if (typeof to !== 'string' || !/^[CDGUW][A-Z0-9]{7,}$/.test(to))
    return 'plugins.slack.requests.to must be the id of a person or channel, such as U012ABCDEFG';
  if (!Array.isArray(from) || from.length === 0 || !from.every((id) => typeof id === 'string' && PERSON.test(id)))
    return 'plugins.slack.requests.from must list the ids of the people who may answer, such as [U012ABCDEFG]';
  return { to, from };
}

/** Posts what waits until `signal` aborts. */
export async function postRequests({ env, signal, desk, report }, { to }) {
  const web = await webClient(env);
  let isReported = false;
  while (!signal.aborted) {
    try {
      for (const request of await desk.unshown()) {
        const sent = await unhurried(
          () => web.chat.postMessage({ ...PLAIN, channel: to, text: escaped(request.text) }),
          signal,
        );
        desk.shown(placeOf(sent.channel, sent.ts), request);
      }
      isReported = false;
    } catch (error) {
      if (!isReported) report(`a request could not be posted on Slack: ${error?.data?.error ?? error?.message ?? error}`);
      isReported = true;
    }
    await pause(LOOK_MS, signal);
  }
}

/**
 * True if the event is a reply to a request, whether or not it counts. Its answer is durable when
 * this resolves.
 */
export async function takeReply(event, { env, desk, report, signal }, { from }) {
  const place = placeOf(event.channel, event.thread_ts);
  if (!event.thread_ts || event.thread_ts === event.ts || !desk.isKnown(place)) return false;
  const said = from.includes(event.user)
    ? await desk.reply(place, plain(event.text))
    : 'Only the people named in guild.yaml can answer here.';
  const web = await webClient(env);
  const message = { ...PLAIN, channel: event.channel, thread_ts: event.thread_ts, text: escaped(said) };
  const posted = unhurried(() => web.chat.postMessage(message), signal).catch((error) =>
    report(`a reply could not be posted on Slack: ${error?.data?.error ?? error?.message}`),
  );
  // Slack sends the event again if it is acknowledged after three seconds.
  await Promise.race([posted, pause(1000, signal)]);
  return true;
}

const placeOf = (channel, ts) => `slack ${channel}:${ts}`;

function plain(text) {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
