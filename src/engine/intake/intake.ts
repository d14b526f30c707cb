/**
 * The intake of a pass: recovers tasks of dead processes and accepts input from people and mail.
 */
import type { Problem } from '../../domain/problem.js';
import { takeBallotAnswers } from '../approvals/answers.js';
import { takeBoards } from './boards.js';
import { checkIn } from './check-in.js';
import type { Flight } from '../core/flight.js';
import { takeIntents } from './intents.js';
import { takeMail } from './mail.js';
import { takeMovedFiles } from './moved-files.js';
import { endAbandonedBids } from '../staffing/offer.js';
import type { EngineContext } from '../core/context.js';
import { retireFailing } from '../staffing/probation.js';
import { recover } from './recover.js';

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
  let moved = (await recover(context)) > 0;
  moved = (await endAbandonedBids(context)) || moved;
  moved = (await takeMovedFiles(context, gone)) || moved;
  moved = (await takeIntents(context, flights, nudged)) || moved;
  moved = (await takeBallotAnswers(context)) || moved;
  const mail = await takeMail(context);
  const boards = await takeBoards(context, flights);
  const checked = await checkIn(context);
  const retired = retireFailing(context);
  return {
    moved: moved || mail.moved || boards.moved || checked.moved || retired,
    problems: [...mail.problems, ...boards.problems, ...checked.problems],
  };
}
