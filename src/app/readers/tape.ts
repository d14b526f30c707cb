/**
 * What stands between a workspace and the world while a run is recorded or replayed. The engine is the same either way; only
 * what comes from outside passes through here, and nothing is left to luck: tasks of a pass are worked on one after the other.
 */
import type { Engine } from '../../engine/pass/pump.js';
import type { Ports } from '../../engine/core/context.js';
import type { WatchOptions } from '../../engine/pass/watch.js';
import { mayHoldSecret } from '../../rules/policy/never/secrets.js';
import type { Plugins } from '../../adapters/plugins/index.js';

export interface Tape {
  /** What the engine is given, with the outside world recorded or replayed. */
  ports(real: Ports): Ports;
  plugins(load: () => Promise<Plugins>): Promise<Plugins>;
  /** Around every pass. */
  pass<T>(roots: ReadonlySet<string> | undefined, run: () => Promise<T>): Promise<T>;
  /** Instead of the usual one, which begins new things before old ones have ended. */
  watch?(ports: Ports, motor: Engine, options: WatchOptions): Promise<void>;
  /** Whatever is under way was told to stop. */
  stopped(): void;
}

export function taped(motor: Engine, tape: Tape): Engine {
  const pump: Engine['pump'] = (roots) => tape.pass(roots, () => motor.pump(roots));
  return {
    ...motor,
    pump,
    // A whole pass: whoever drives it decides after each one whether there is to be another.
    pass: async (_look, _onEnd, roots) => ({ ...(await pump(roots)), again: false }),
    isSettling: true,
    stop() {
      tape.stopped();
      return motor.stop();
    },
  };
}

/** Why a file is not kept on a cassette: what agents would have to ask a human for does not leave the house this way either. */
export function keptOut(file: string): string | undefined {
  return mayHoldSecret(file) ? 'it may hold a secret' : undefined;
}
