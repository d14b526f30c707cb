/**
 * The one loop around passes. `watch`, `run` and `pump --all` each pass a condition, which decides
 * where a pass looks, when the next pass starts, and when the loop ends.
 */
import type { Engine, Look, OnEnd, PumpReport } from './pump.js';

export interface Condition {
  /** Start only tasks of these trees; absent: all. */
  roots?: ReadonlySet<string> | undefined;
  look(): Look;
  /** A task that a pass started has left this process. */
  onEnd: OnEnd;
  onPass(report: PumpReport): Promise<void> | void;
  /** Called if an immediate pass would find nothing. Waits for more to do; false: condition met. */
  wait(report: PumpReport): Promise<boolean>;
}

export async function runUntil(engine: Engine, condition: Condition, signal?: AbortSignal): Promise<boolean> {
  for (;;) {
    if (signal?.aborted) return false;
    const report = await engine.pass(condition.look(), condition.onEnd, condition.roots);
    await condition.onPass(report);
    if (!report.again && !(await condition.wait(report))) return true;
  }
}
