/** Everything that happened in a run, in order, for a slider through time. */
import { eventText } from '../../app/readers/why/story.js';
import { defined } from '../../domain/defined.js';
import type { ReplayRun } from '../base/contract.js';
import type { Moment } from './moment.js';
import { titled } from './rows.js';
import { taskDetail } from './task.js';

const EVENTS_MAX = 5000;

export async function replayOf(moment: Moment, id: string): Promise<ReplayRun> {
  const { row, tree } = await taskDetail(moment, id);
  const titles = new Map(tree.map((each) => [each.id, each.title]));
  const events = moment.log
    .events((_, task) => task !== undefined && titles.has(task))
    .flatMap((event) => {
      const text = eventText(event);
      if (text === undefined) return [];
      return [
        defined({
          at: event.at,
          name: event.name,
          task: event.task,
          title: titles.get(event.task ?? ''),
          agent: event.agent,
          text: titled(text.trim(), (each) => titles.get(each)),
        }),
      ];
    });
  return { task: { id: row.id, title: row.title }, tree, events: events.slice(0, EVENTS_MAX) };
}
