/**
 * Schedules in guild.yaml, read again when the file changes, so that all processes agree on them
 * without a restart. The calendar is croner's; it is loaded when the first schedule is planned.
 */
import path from 'node:path';
import type { Cron } from 'croner';
import { defined } from '../../domain/defined.js';
import { hash53, safePart } from '../../domain/task/id.js';
import type { ConfiguredSchedule } from '../../domain/config/config.js';
import type { Disk } from '../../ports/disk.js';
import type { Rule, Schedules, ScheduleWish } from '../../ports/reading/schedules.js';
import { parseConfig } from '../../text/config/config.js';

const MAX_CONFIG_BYTES = 1024 * 1024;

export function schedules({ root, disk }: { root: string; disk: Disk }): Schedules {
  const file = path.join(root, 'guild.yaml');
  const known = new Map<string, Promise<Cron>>();
  let seen: string | undefined = 'never';

  return {
    configured() {
      const stamp = disk.stamp(file);
      if (stamp === seen) return undefined;
      seen = stamp;
      const read = disk.read(file, MAX_CONFIG_BYTES);
      if (read.kind === 'missing') return [];
      if (read.kind !== 'file') return undefined;
      const { config, problems } = parseConfig(read.bytes.toString('utf8'), 'guild.yaml');
      // A file with a mistake may lack schedules that its owner still wants.
      if (problems.some(({ code }) => code !== 'unknown_key')) return undefined;
      return Object.entries(config.schedules).map(([name, schedule]) => wishOf(name, schedule));
    },
    readAgain() {
      seen = 'never';
    },
    async next(rule, after) {
      return (await calendar(rule)).nextRun(after) ?? undefined;
    },
    async latest(rule, until) {
      // croner counts in seconds and excludes the reference time from previous times, so add a
      // second.
      const nextSecond = new Date(Math.floor(until.getTime() / 1000) * 1000 + 1000);
      return (await calendar(rule)).previousRuns(1, nextSecond)[0];
    },
  };

  function calendar({ cron, timezone }: Rule): Promise<Cron> {
    const key = `${cron} ${timezone}`;
    const made = known.get(key) ?? open(cron, timezone);
    known.set(key, made);
    return made;
  }
}

async function open(cron: string, timezone: string): Promise<Cron> {
  const { Cron } = await import('croner');
  return new Cron(cron, { paused: true, timezone });
}

function wishOf(name: string, { task: description, to, priority, ...schedule }: ConfiguredSchedule): ScheduleWish {
  const id = `schedule-${safePart(name)}`;
  const task = defined({ id, description, schedule, to, priority });
  return { said: hash53(JSON.stringify(task)), task };
}
