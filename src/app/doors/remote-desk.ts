/**
 * Requests that a plugin shows to a person elsewhere (Slack), and the replies that come back. A
 * reply in a place (a thread) counts for the request that this machine showed there. That record is
 * kept outside the workspace, with the digest of the shown text, so no file of the workspace can
 * change it.
 */
import type { Env } from '../../domain/config/env.js';
import { parseMapping } from '../../domain/mapping.js';
import fs from 'node:fs';
import path from 'node:path';
import type { TrustRecord } from '../../domain/consent/trust.js';
import { needsConfirmation } from '../../domain/consent/weight.js';
import { ProblemError } from '../../domain/problem.js';
import type { Drawn } from '../../domain/consent/draw.js';
import type { Answer, ApprovalRequest } from '../../domain/task/approval.js';
import { answerIn } from '../../domain/task/question.js';
import type { Notices } from '../../ports/store/notices.js';
import type { Store } from '../../ports/store/index.js';
import { openNotices } from '../notify/open-notices.js';
import { keptFolder } from '../trust/trust.js';

/**
 * The interface for a plugin. The program wrote all texts; invisible characters in agents' values
 * are shown as escapes.
 */
interface RemoteDesk {
  /** Open requests that nobody has shown at another place, as texts to show. */
  unshown(): Promise<{ id: string; seen: string; text: string }[]>;
  /** Notes where a request was shown. Durable when it returns. */
  shown(place: string, request: { id: string; seen: string }): void;
  /** True if a request was shown at this place. */
  isKnown(place: string): boolean;
  /** Takes a reply at a place and returns the text to show there. The answer is durable by then. */
  reply(place: string, text: string): Promise<string>;
}

interface OpenRequest {
  id: string;
  request: ApprovalRequest;
  shown: Drawn;
  seen: string;
}

/** The part of a desk that is used here. */
interface Desk {
  look(): Promise<OpenRequest[]>;
  find(id: string): Promise<OpenRequest>;
  answer(id: string, seen: string, answer: Omit<Answer, 'at'>): Promise<void>;
}

interface Parts {
  desk(): Promise<Desk>;
  notices(): Notices;
  isAlive(): Promise<(peer: string) => boolean>;
  /** Outside of the workspace. */
  file: string;
}

interface Opened {
  root: string;
  env: Env;
  store: Store;
  record: TrustRecord;
  openDesk(): Promise<Desk>;
}

/** The desk of a workspace whose store this process has open. */
export function openRemoteDesk({ root, env, store, record, openDesk }: Opened): RemoteDesk {
  let opened: Promise<Desk> | undefined;
  let notices: Notices | undefined;
  return remoteDesk({
    desk: () => (opened ??= openDesk()),
    notices: () => (notices ??= openNotices(root, store)),
    async isAlive() {
      const alive = new Set((await store.presence.peers()).map(({ id }) => id));
      return (peer) => alive.has(peer) || peer === store.presence.peer.id;
    },
    file: path.join(keptFolder(record, env), 'shown-elsewhere.jsonl'),
  });
}

function remoteDesk({ desk, notices, isAlive, file }: Parts): RemoteDesk {
  /** Claimed by this process, until it has shown them: showing may fail and is tried again. */
  const claimed = new Set<string>();
  const keyOf = ({ id, seen }: { id: string; seen: string }): string => `${id} ${seen}`;
  return {
    async unshown() {
      const open = await desk();
      const alive = await isAlive();
      const requests = await open.look();
      for (const request of requests)
        if (await notices().claim({ kind: 'shown', task: keyOf(request) }, alive)) claimed.add(keyOf(request));
      const mine = requests.filter((request) => claimed.has(keyOf(request)));
      return mine.map((request) => ({ id: request.id, seen: request.seen, text: drawn(request).text }));
    },
    shown(place, { id, seen }) {
      fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      const fd = fs.openSync(file, 'a', 0o600);
      try {
        fs.writeSync(fd, `\n${JSON.stringify({ place, id, seen })}\n`);
        fs.fsyncSync(fd);
      } finally {
        fs.closeSync(fd);
      }
      // If it fails, another machine may show the request again; the answer still counts once.
      void Promise.resolve(notices().sent({ kind: 'shown', task: keyOf({ id, seen }) })).catch(() => undefined);
      claimed.delete(keyOf({ id, seen }));
    },
    isKnown: (place) => shownAt(file, place) !== undefined,
    async reply(place, text) {
      const known = shownAt(file, place);
      if (known === undefined) return 'This is not a request that I know.';
      try {
        const open = await desk();
        await open.look();
        const request = await open.find(known.id);
        if (request.seen !== known.seen)
          return 'This request has changed since it was shown here. Nothing was answered.';
        const given = answerOf(request, text);
        if ('say' in given) return given.say;
        await open.answer(request.id, known.seen, given.answer);
        return given.done;
      } catch (thrown) {
        if (thrown instanceof ProblemError) return `Nothing was answered: ${thrown.problem.message}.`;
        throw thrown;
      }
    },
  };
}

/** A longer request cannot be read in a chat; it is answered where there is room. */
const MAX_TEXT = 12_000;

function drawn(request: OpenRequest): { text: string; isWhole: boolean } {
  const { shown, request: asked } = request;
  const head = asked.question ? `${asked.agent} asks you` : `${asked.agent} needs your approval`;
  const risk = shown.risk === undefined ? '' : ` · ${shown.risk} risk`;
  const diff = shown.changes.length === 0 ? [] : ['', 'What changes:', ...shown.changes];
  const title = asked.question ? [] : [shown.title, ''];
  const body = [`${head}${risk}`, '', ...title, shown.action.text, '', ...shown.about, ...diff].join('\n');
  const how = howTo(request);
  if (body.length + how.length <= MAX_TEXT) return { text: `${body}\n\n${how}`, isWhole: true };
  const instead = 'It is too long to be shown here. Answer it with guild inbox.';
  return { text: `${head}${risk}\n\n${shown.title}\n\n${instead}`, isWhole: false };
}

function howTo(request: OpenRequest): string {
  const { question } = request.request;
  if (question?.choices) return `Reply in this thread with one of the choices.`;
  if (question) return 'Reply in this thread with your answer.';
  return `Reply in this thread with "${yesOf(request)}" or "no" and a reason.`;
}

/** A risky action takes more than one short word, as it takes more than one key elsewhere. */
function yesOf({ request, seen }: OpenRequest): string {
  return needsConfirmation(request) ? `yes ${seen.replace(/^sha256:/, '').slice(0, 6)}` : 'yes';
}

type Given = { answer: Omit<Answer, 'at'>; done: string } | { say: string };

function answerOf(request: OpenRequest, typed: string): Given {
  const { question } = request.request;
  if (!drawn(request).isWhole) return { say: 'It was too long to be shown here. Answer it with guild inbox.' };
  if (question) {
    const given = answerIn(question, typed);
    if ('wrong' in given) return { say: `Nothing was answered: ${given.wrong}.` };
    return { answer: { approved: true, by: 'human', text: given.text }, done: 'Thank you, I passed on your answer.' };
  }
  const text = typed.trim();
  const [, word = '', reason = ''] = /^(\S+)(?:[\s,.:;-]+([\s\S]*))?$/.exec(text) ?? [];
  if (text.toLowerCase() === yesOf(request)) return { answer: { approved: true, by: 'human' }, done: 'Allowed.' };
  if (/^no[,.:;]?$/i.test(word)) {
    const why = reason.trim() === '' ? {} : { reason: reason.trim() };
    return { answer: { approved: false, by: 'human', ...why }, done: 'Refused.' };
  }
  return { say: `Nothing was answered. ${howTo(request)}` };
}

/** Later lines count. A line that a crash has torn is left out. */
function shownAt(file: string, place: string): { id: string; seen: string } | undefined {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const line = text
    .split('\n')
    .reverse()
    .find((each) => each.includes(JSON.stringify(place)));
  const { place: at, id, seen } = parseMapping(line ?? '') ?? {};
  return at === place ? { id: String(id), seen: String(seen) } : undefined;
}
