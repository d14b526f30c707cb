/**
 * The one loop around passes. `watch`, `run` and `pump --all` are conditions of it: each says where
 * a pass looks, what it waits for between passes, and when it is met.
 */
import type { Engine, Look, PumpReport } from './pump.js';

export interface Condition {
  /** Only tasks of these trees are started; absent: of all. */
  roots?: ReadonlySet<string> | undefined;
  look(): Look;
  /** A task that a pass started has left this process. */
  onEnd(moved: boolean): void;
  onPass(report: PumpReport): Promise<void> | void;
  /**
   * Called if another pass at once would find nothing. Waits until one may find something; false:
   * the condition is met.
   */
  wait(report: PumpReport): Promise<boolean>;
}

/** False if it was aborted before the condition was met. */
export async function runUntil(engine: Engine, condition: Condition, signal?: AbortSignal): Promise<boolean> {
  for (;;) {
    if (signal?.aborted) return false;
    const report = await engine.pass(condition.look(), condition.onEnd, condition.roots);
    await condition.onPass(report);
    if (!report.again && !(await condition.wait(report))) return true;
  }
}
