/** Everything that happened in a run, in order, for a slider through time. */
import { eventText } from '../../app/readers/why/story.js';
import { defined } from '../../domain/defined.js';
import type { ReplayRun } from '../base/contract.js';
import type { Feed } from '../base/feed.js';
import type { Log } from '../base/log.js';
import { taskDetail } from './task.js';

const EVENTS_MAX = 5000;

export async function replayOf(feed: Feed, log: Log, id: string): Promise<ReplayRun> {
  const { row, tree } = await taskDetail(feed, log, id);
  const titles = new Map(tree.map((each) => [each.id, each.title]));
  const events = log
    .events((_, task) => task !== undefined && titles.has(task))
    .flatMap((event) => {
      const text = eventText(event);
      if (text === undefined) return [];
      return [
        defined({
          at: event.at,
          name: event.name,
          task: event.task,
          agent: event.agent,
          text: text.trim(),
        }),
      ];
    });
  return { task: { id: row.id, title: row.title }, tree, events: events.slice(0, EVENTS_MAX) };
}
