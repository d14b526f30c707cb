/** When and how a person is notified that something waits or has ended. */
export const NOTICE_KINDS = ['waits', 'failed', 'ended'] as const;
type NoticeKind = (typeof NOTICE_KINDS)[number];

export interface NotifyRules {
  on: NoticeKind[];
  /**
   * Notices within this time make one message. A request that is answered within it is left out.
   */
  gatherMs: number;
  /** Nothing is sent between these minutes of the day; a `to` before `from` is on the next day. */
  quiet?: { from: number; to: number; timezone?: string };
  /** The bell of the terminal, and its own notification where it has one. */
  bell: boolean;
  /** A notification of the desktop. */
  desktop: boolean;
}

/** Channels that run or send something, so they act only if the workspace is trusted. */
export interface NotifyChannels {
  command?: string;
  webhook?: { url: string; secretEnv: string };
  /** Through the plugin of this name, to this recipient. */
  plugin?: { name: string; to: string };
}

export interface Notice {
  kind: NoticeKind;
  task: string;
  agent: string;
  title: string;
}

/** One message about one thing or several. */
export interface NoticeMessage {
  title: string;
  text: string;
  notices: Notice[];
}

/** How long nothing may be sent, in milliseconds; 0 outside of quiet hours. */
export function quietMs({ quiet }: Pick<NotifyRules, 'quiet'>, now: Date): number {
  if (quiet === undefined) return 0;
  const { from, to } = quiet;
  const minute = minuteOfDay(now, quiet.timezone);
  const isQuiet = from <= to ? minute >= from && minute < to : minute >= from || minute < to;
  if (!isQuiet) return 0;
  return ((to - minute + DAY) % DAY) * 60_000 - (now.getSeconds() * 1000 + now.getMilliseconds());
}

const DAY = 24 * 60;

function minuteOfDay(now: Date, timezone: string | undefined): number {
  if (timezone === undefined) return now.getHours() * 60 + now.getMinutes();
  const format = new Intl.DateTimeFormat('en-GB', {
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
    timeZone: timezone,
  });
  const [hour = 0, minute = 0] = format.format(now).split(':').map(Number);
  return hour * 60 + minute;
}

const SHOWN = 5;

/** `2 things wait for you in office`, with one line for each. */
export function messageOf(notices: readonly Notice[], workspace: string): NoticeMessage {
  const count = (kind: NoticeKind): number => notices.filter((notice) => notice.kind === kind).length;
  const [waits, failed, ended] = [count('waits'), count('failed'), count('ended')];
  const parts = [
    ...(waits > 0 ? [waits === 1 ? '1 thing waits for you' : `${waits} things wait for you`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(ended > 0 ? [`${ended} ended`] : []),
  ];
  const lines = notices
    .slice(0, SHOWN)
    .map(({ kind, agent, title }) => `${agent}${kind === 'waits' ? '' : ` ${kind}`}: ${title}`);
  if (notices.length > SHOWN) lines.push(`and ${notices.length - SHOWN} more`);
  return { title: `${parts.join(', ')} in ${workspace}`, text: lines.join('\n'), notices: [...notices] };
}
