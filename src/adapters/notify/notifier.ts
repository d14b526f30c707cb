/**
 * Tells the person when something waits or has ended, by the rules of `notify` in guild.yaml.
 * Notices that come close together make one message, requests that are answered meanwhile make
 * none, and quiet hours delay the message. Processes share the record of sent notices, so each
 * is sent at most once. Work never waits for it.
 */
import { messageOf, quietMs, type Notice, type NoticeMessage, type NotifyRules } from '../../domain/config/notify.js';
import type { Event } from '../../domain/event.js';
import type { Problem } from '../../domain/problem.js';
import { HUMAN, isEnded, type Placed, type Task } from '../../domain/task/task.js';
import type { Notices } from '../../ports/store/notices.js';
import type { Store } from '../../ports/store/index.js';

interface NotifierOptions {
  /** The current rules; undefined if nobody is to be notified. */
  rules(): NotifyRules | undefined;
  workspace: string;
  store: Pick<Store, 'tasks' | 'presence'>;
  /** Who asks, and the task in one line. */
  announce(task: Task): { from?: string | undefined; title: string };
  /** Opened when the first notice is due. */
  notices(): Notices;
  /** Rings this process's terminal, even if another process has sent the notice. */
  ring(message: NoticeMessage): void;
  send(message: NoticeMessage, rules: NotifyRules): Promise<Problem[]>;
  report(problem: Problem): void;
}

export interface Notifier {
  event(event: Event): void;
  /** Looks for missed notices: from before the start, or of a process that died. */
  catchUp(): Promise<void>;
  /** Sends the notices that are due. Bounded in time. */
  close(): Promise<void>;
}

type Known = Pick<Notice, 'kind' | 'task'>;

const LOOKED_AT = 100;
const CLOSE_MS = 15_000;
const MAX_TITLE = 120;

export function notifier(options: NotifierOptions): Notifier {
  const { rules, store } = options;
  const pending = new Map<string, Known>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();
  let isClosed = false;

  return {
    event(event) {
      if (rules() === undefined || event.task === undefined) return;
      if (event.name === 'task.created' && event.agent === HUMAN) add({ kind: 'waits', task: event.task });
      if (event.name === 'task.completed') add({ kind: 'ended', task: event.task });
      if (event.name === 'task.failed') add({ kind: 'failed', task: event.task });
    },
    async catchUp() {
      if (rules() === undefined) return;
      const kept = options.notices();
      const isAlive = await livePeers();
      const since = (await kept.since()).toISOString();
      for (const { task } of store.tasks.open())
        if (task.to === HUMAN) await addUnknown({ kind: 'waits', task: task.id });
      for (const { task, state } of await store.tasks.ended({ limit: LOOKED_AT }))
        if ((task.ended_at ?? '') > since)
          await addUnknown({ kind: state === 'failed' ? 'failed' : 'ended', task: task.id });

      async function addUnknown(notice: Known): Promise<void> {
        if (!(await kept.isKnown(notice, isAlive))) add(notice);
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const now = rules();
      // The next process finds the notices that quiet hours hold back.
      if (pending.size > 0 && now !== undefined && quietMs(now, new Date()) === 0) flush();
      const limit = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([flushing, limit]);
    },
  };

  function add(notice: Known): void {
    const now = rules();
    if (now === undefined || !now.on.includes(notice.kind)) return;
    pending.set(`${notice.kind} ${notice.task}`, notice);
    if (timer !== undefined || isClosed) return;
    timer = setTimeout(due, now.gatherMs);
    timer.unref();
  }

  function due(): void {
    timer = undefined;
    const now = rules();
    const waitMs = now === undefined ? 0 : quietMs(now, new Date());
    if (waitMs === 0) return flush();
    timer = setTimeout(due, Math.min(waitMs, MAX_TIMER_MS));
    timer.unref();
  }

  function flush(): void {
    const batch = [...pending.values()];
    pending.clear();
    flushing = flushing.then(() => tell(batch)).catch(() => undefined);
  }

  async function tell(batch: readonly Known[]): Promise<void> {
    const now = rules();
    if (now === undefined) return;
    const notices = (await Promise.all(batch.map((known) => asNotice(known, now)))).filter((one) => one !== undefined);
    if (notices.length === 0) return;
    if (now.bell) options.ring(messageOf(notices, options.workspace));
    const kept = options.notices();
    const isAlive = await livePeers();
    const mine: Notice[] = [];
    for (const notice of notices) if (await kept.claim(notice, isAlive)) mine.push(notice);
    if (mine.length === 0) return;
    // Marked first: if this process dies while it sends, nobody knows whether the notice arrived. A
    // missing notice is better than a second one, because the request itself still waits.
    for (const notice of mine) await kept.sent(notice);
    for (const problem of await options.send(messageOf(mine, options.workspace), now)) options.report(problem);
  }

  /** Undefined if it is no longer worth a notice, or was never meant for the person. */
  async function asNotice({ kind, task: id }: Known, { gatherMs }: NotifyRules): Promise<Notice | undefined> {
    const placed = await store.tasks.read(id);
    if (placed === undefined || isEnded(placed.state) !== (kind !== 'waits')) return undefined;
    if (kind !== 'waits' && !isOwn(placed, kind, gatherMs)) return undefined;
    const { task } = placed;
    const { from, title: words } = options.announce(task);
    const agent = (kind === 'waits' ? from : task.to) ?? '?';
    const title = words.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE);
    return { kind, task: id, agent, title };
  }

  async function livePeers(): Promise<(peer: string) => boolean> {
    const alive = new Set((await store.presence.peers()).map(({ id }) => id));
    alive.add(store.presence.peer.id);
    return (peer) => alive.has(peer);
  }
}

/** The rules are read again this often while quiet hours hold a notice back: they may change. */
const MAX_TIMER_MS = 15_000;

/**
 * Whether the end of a person's request is worth a notice. The end of a request that took only a
 * moment is not, because the person has just made it. The failure of a scheduled run always is.
 */
function isOwn({ task }: Placed, kind: Notice['kind'], gatherMs: number): boolean {
  if (task.parent !== undefined || task.to === HUMAN) return false;
  const tookMs = Date.parse(task.ended_at ?? '') - Date.parse(task.created_at);
  const isUnseen = kind === 'failed' && task.context['scheduled'] !== undefined;
  return isUnseen || Number.isNaN(tookMs) || tookMs >= gatherMs;
}
