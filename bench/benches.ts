/** All benchmarks, in the order in which they run; the least important come last. */
import { costOfChoosing } from './coordination/cost-of-choosing.js';
import { noteBus } from './coordination/note-bus.js';
import { stateChanges } from './coordination/state-changes.js';
import { waits } from './coordination/wait-graph.js';
import { farRuns, farWorkers } from './far/runs.js';
import { farPatterns } from './far/patterns.js';
import { farScale } from './far/scale.js';
import { farCrowd, farSustained } from './far/sustained.js';
import type { Bench } from './harness/rows.js';
import { boardParsing } from './parsing/board.js';
import { commandVerdict } from './parsing/command-verdict.js';
import { idleSwarm } from './process/idle-swarm.js';
import { idleWatch } from './process/idle-watch.js';
import { costOfTrust } from './process/trust.js';
import { atOnce } from './shipped/at-once.js';
import { chat } from './shipped/chat.js';
import { guildRun, start } from './shipped/commands.js';
import { conversation } from './shipped/conversation.js';
import { droppedTasks } from './shipped/dropped-tasks.js';
import { finishedTasks } from './shipped/finished-tasks.js';
import { idlePending } from './shipped/idle-pending.js';
import { journaledDisk } from './shipped/journaled-disk.js';
import { longRuns } from './shipped/long-runs.js';
import { runs } from './shipped/runs.js';
import { windowBench } from './shipped/window.js';
import { competingClaims } from './store/competing-claims.js';
import { idlePump } from './store/idle-pump.js';
import { listReadyTasks } from './store/list-ready-tasks.js';
import { manyPendingTasks } from './store/many-pending-tasks.js';

/** They drive a build as a user does, and can therefore drive any build. */
const SHIPPED: Bench[] = [
  ...runs,
  longRuns,
  conversation,
  atOnce,
  start,
  guildRun,
  droppedTasks,
  finishedTasks,
  journaledDisk,
  windowBench,
  chat,
  idlePending,
];

/** They look inside this build. `--against` finds them by name in the older one: keep the names. */
const INNER: Bench[] = [
  competingClaims,
  manyPendingTasks,
  listReadyTasks,
  idlePump,
  commandVerdict,
  costOfChoosing,
  boardParsing,
  noteBus,
  idleWatch,
  idleSwarm,
  stateChanges,
  waits,
  costOfTrust,
  farRuns,
  farWorkers,
  farPatterns,
  farSustained,
  farCrowd,
  farScale,
];

export const BENCHES: Bench[] = [...SHIPPED, ...INNER];

export function isInner(bench: Bench): boolean {
  return INNER.includes(bench);
}
