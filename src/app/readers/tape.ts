/**
 * The layer between a workspace and the outside world while a run is recorded or replayed. The
 * engine is the same; everything from outside passes through here. To be deterministic, the tasks
 * of a pass run one after the other.
 */
import type { Engine } from '../../engine/pass/pump.js';
import type { Ports } from '../../engine/core/context.js';
import type { WatchOptions } from '../../engine/pass/watch.js';
import type { Consent } from '../../ports/consent/index.js';
import { isSecretPath } from '../../rules/policy/names/secret-names.js';
import type { Plugins } from '../../adapters/plugins/index.js';

export interface Tape {
  /** The engine's ports, with everything outside recorded or replayed. */
  ports(real: Ports): Ports;
  plugins(load: () => Promise<Plugins>): Promise<Plugins>;
  /** The consent that counts. `real`: this user's consent; absent in a replay. */
  consent(real: Consent | undefined): Consent;
  /**
   * Set in a replay, which runs nothing of its folder. Says why nothing may run without approval
   * now, if it continues live.
   */
  replayed?: { restricted(): string | undefined };
  /** Wraps every pass. */
  pass<T>(roots: ReadonlySet<string> | undefined, run: () => Promise<T>): Promise<T>;
  /** Replaces the usual watch loop, which starts new tasks before others have ended. */
  watch?(ports: Ports, motor: Engine, options: WatchOptions): Promise<void>;
  /** Call when all work in progress is stopped. */
  stopped(): void;
}

export function taped(motor: Engine, tape: Tape): Engine {
  const pump: Engine['pump'] = (roots) => tape.pass(roots, () => motor.pump(roots));
  return {
    ...motor,
    pump,
    // A complete pass. The driver decides after each pass whether to make another.
    pass: async (_look, _onEnd, roots) => ({ ...(await pump(roots)), again: false }),
    isSettling: true,
    stop() {
      tape.stopped();
      return motor.stop();
    },
  };
}

/**
 * Why a file is left out of a cassette: agents need approval to read secrets, so recordings must
 * not contain them.
 */
export function whyLeftOut(file: string): string | undefined {
  return isSecretPath(file) ? 'it may contain a secret' : undefined;
}
