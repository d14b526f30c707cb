/**
 * `guild top`: the whole workspace on one screen, updated as it changes. A request or a task can be
 * selected and answered, messaged, cancelled or explained.
 */
import path from 'node:path';
import { readOwnRequests, openShown } from '../../../app/approvals.js';
import { followTurns } from '../../../app/live/follow-turns.js';
import { openEvents } from '../../../app/readers/log/open-events.js';
import { farPartsOf } from '../../../app/readers/open-reader.js';
import { openStates, type Snapshot } from '../../../app/readers/open-states.js';
import type { Event } from '../../../domain/event.js';
import { summary } from '../../../views/summary.js';
import { EXIT, type Command } from '../../args/command.js';
import { progressOn } from '../../render/progress.js';
import { addEvents, ledgerOf, topFrame, type Frame } from './frame.js';
import { follow } from './follow.js';

export const command: Command = {
  usage: 'top',
  about: `
Shows agents and what they do right now, what waits for you, open tasks, the cost and the last events on one screen, and
updates it. It does no work itself: run guild watch in another terminal.

The arrow keys (or j and k) select a request or a task. Enter opens a request, with the keys of guild inbox; w explains a
task, t sends it a message, x cancels it. The page keys scroll. q or Ctrl-C quits.`,
  options: { once: { type: 'boolean', about: 'print one frame as text (default in a pipe)' } },
  maxWords: 0,
  async run(call) {
    const states = openStates(call.root, call.io.env, openShown(call.root, call.io.env));
    const log = await openEvents(call.root, {
      store: states.store,
      onProgress: progressOn(call.terminal, 'indexing'),
    });
    const ledger = ledgerOf(log.seen);
    const titles = new Map<string, string>();
    const look = async (): Promise<Snapshot> => {
      addEvents(ledger, await log.more());
      await learnTitles(titles, ledger.latest, states.store);
      return states.look();
    };
    const view = { ...states, look };
    const name = path.basename(call.root);
    const { terminal, json } = call;
    if (json) {
      const { agents, peers, problems, brokenAgents, forHuman, open, takers } = await view.look();
      const { latest, ...spent } = ledger;
      terminal.json({
        agents,
        peers,
        problems: [...problems, ...brokenAgents],
        open: open.map(({ task, state }) => ({
          id: task.id,
          state,
          to: task.to ?? takers.get(task.id),
          description: task.description,
        })),
        waiting_for_you: forHuman.map(({ task }) => task.id),
        spent: { calls: spent.calls, tokens: spent.tokens, micro_usd: spent.microUsd, unpriced_calls: spent.unpriced },
        latest,
      });
      return EXIT.done;
    }
    const own = readOwnRequests(call.root, call.io.env, farPartsOf(states.store) !== undefined);
    const live = followTurns(call.root, call.io.env);
    const isWhole = call.verbose || !terminal.live || call.values['once'] === true;
    const draw = (seen: Snapshot, height: number, selected?: string): string[] => {
      const errorAt: Frame['errorAt'] = (agent) => view.history(agent).at(-1)?.at;
      return topFrame(
        { seen, own, ledger, titles, turns: live.turns(), errorAt, name, height, selected, isWhole },
        terminal,
      );
    };
    try {
      if (terminal.live && call.values['once'] !== true) await follow(call, view, draw);
      else {
        const height = terminal.width === Infinity ? PIPE_ROWS : terminal.height - 1;
        for (const line of draw(await view.look(), height)) terminal.out(line);
      }
      return EXIT.done;
    } finally {
      live.close();
    }
  },
};

/** Events name tasks by their ids, and most of these tasks have ended. Each is read once. */
async function learnTitles(
  titles: Map<string, string>,
  events: readonly Event[],
  { tasks }: ReturnType<typeof openStates>['store'],
): Promise<void> {
  const ids = new Set(events.flatMap(({ task }) => task ?? []));
  for (const id of titles.keys()) if (!ids.has(id)) titles.delete(id);
  for (const id of ids) {
    if (titles.has(id)) continue;
    const placed = await tasks.read(id);
    titles.set(id, placed === undefined ? '' : summary({ ...placed.task, result: undefined }));
  }
}

/** The number of rows in a pipe, which has no height. */
const PIPE_ROWS = 60;
