/** What a pass does first, once the folders were looked at: takes up what dead processes left, and what people and the world outside brought. */
import type { Problem } from '../../domain/problem.js';
import { takeBallotAnswers } from '../approvals/answers.js';
import { tendBoards } from './boards.js';
import { checkIn } from './check-in.js';
import type { Flight } from '../core/flight.js';
import { takeIntents } from './intents.js';
import { takeMail } from './mail.js';
import { tendMoved } from './moved-files.js';
import { endAbandonedBids } from '../staffing/offer.js';
import type { EngineContext } from '../core/context.js';
import { retireFailing } from '../staffing/probation.js';
import { recover } from './recover.js';

interface LookedAround {
  /** Something changed. */
  moved: boolean;
  problems: Problem[];
}

/** `gone`: tasks that are open no longer, and this process did not end them. `nudged`: see `takeIntents`. */
export async function lookAround(
  context: EngineContext,
  flights: ReadonlyMap<string, Flight>,
  nudged: Set<string>,
  gone: readonly string[],
): Promise<LookedAround> {
  let moved = (await recover(context)) > 0;
  moved = (await endAbandonedBids(context)) || moved;
  moved = (await tendMoved(context, gone)) || moved;
  moved = (await takeIntents(context, flights, nudged)) || moved;
  moved = (await takeBallotAnswers(context)) || moved;
  const mail = await takeMail(context);
  const boards = await tendBoards(context, flights);
  const checked = await checkIn(context);
  const retired = retireFailing(context);
  return {
    moved: moved || mail.moved || boards.moved || checked.moved || retired,
    problems: [...mail.problems, ...boards.problems, ...checked.problems],
  };
}
