/**
 * The intake of a pass: recovers tasks of dead processes and accepts input from people and mail.
 */
import type { Problem } from '../../domain/problem.js';
import { replaceUnsound, takeBallotAnswers } from '../approvals/answers.js';
import { takeAppended } from './appended-messages.js';
import { takeBoards } from './boards.js';
import { checkIn } from './check-in.js';
import type { Flight } from '../core/flight.js';
import { takeIntents } from './intents.js';
import { takeMail } from './mail.js';
import { takeMovedFiles } from './moved-files.js';
import { endAbandonedBids } from '../staffing/offer.js';
import type { EngineContext } from '../core/context.js';
import { fence } from '../core/fence.js';
import { retireFailing } from '../staffing/probation.js';
import { missingDependencies } from './missing-dependencies.js';
import { recover } from './recover.js';
import { takeSchedules } from './schedules.js';

interface Intake {
  /** Something changed. */
  moved: boolean;
  problems: Problem[];
}

/** `gone`: tasks no longer open that this process did not end. `nudged`: see `takeIntents`. */
export async function takeIn(
  context: EngineContext,
  flights: ReadonlyMap<string, Flight>,
  nudged: Set<string>,
  gone: readonly string[],
): Promise<Intake> {
  const nothing = { moved: false, problems: [] };
  const step = (what: string, run: () => boolean | Promise<boolean>): Promise<boolean> =>
    fence(context, what, run, false);
  let moved = await step('taking over from dead processes', async () => (await recover(context)) > 0);
  moved = (await step('ending old bids', () => endAbandonedBids(context))) || moved;
  moved = (await step('looking at moved files', () => takeMovedFiles(context, gone))) || moved;
  moved = (await step('taking requests', () => takeIntents(context, flights, nudged))) || moved;
  moved = (await step('reading the ballot', () => takeBallotAnswers(context))) || moved;
  moved = (await step('reading the schedules', () => takeSchedules(context))) || moved;
  moved = (await step('asking again', () => replaceUnsound(context))) || moved;
  const appended = await fence<Intake>(context, 'reading messages in sessions', () => takeAppended(context), nothing);
  const mail = await fence<Intake>(context, 'reading the inbox', () => takeMail(context), nothing);
  const boards = await fence<Intake & { isPartial?: boolean }>(
    context,
    'reading the boards',
    () => takeBoards(context, flights),
    nothing,
  );
  const checked = await fence<Intake>(context, 'the check-in', () => checkIn(context), nothing);
  const missing = boards.isPartial ? [] : await fence(context, 'dependencies', () => missingDependencies(context), []);
  const retired = await step('retiring agents', () => retireFailing(context));
  return {
    moved: moved || appended.moved || mail.moved || boards.moved || checked.moved || retired,
    problems: [...appended.problems, ...mail.problems, ...boards.problems, ...missing, ...checked.problems],
  };
}
