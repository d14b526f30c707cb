/** A process that works as the driver does: the steps of a pattern follow without a pass. */
import type { Engine } from '../../src/engine/pass/pump.js';
import type { Proc } from './cluster.js';

/** `steps`: how often a step followed without a pass. */
export function following(proc: Proc): Proc & { steps(): number } {
  const { engine } = proc;
  let steps = 0;
  let hasEnded = false;
  const onEnd: Parameters<Engine['pass']>[1] = (moved, task) => {
    hasEnded ||= moved;
    if (moved && engine.follow(task, onEnd)) steps++;
  };
  const pump: Engine['pump'] = async (roots) => {
    hasEnded = false;
    const report = await engine.pass('all', onEnd, roots);
    while (engine.flights.size > 0) await Promise.all([...engine.flights.values()].map(({ done }) => done));
    await engine.tidy();
    return { ...report, moved: report.moved || hasEnded };
  };
  return { ...proc, engine: { ...engine, pump }, steps: () => steps };
}
