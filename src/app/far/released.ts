/** Definitions and desk keys that people have released for all machines of a store. */
import type { FarParts } from '../../adapters/far/index.js';
import type { Config } from '../../domain/config/config.js';
import type { Env } from '../../domain/config/env.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Consent } from '../../ports/consent/index.js';
import type { Pauses } from '../../ports/pauses.js';
import { DEFINITIONS, definitionsHash, publishedIn } from '../../adapters/definitions/index.js';
import { withDefinitions } from '../../adapters/definitions/check.js';
import { KEY, sharedConsent } from './keys.js';
import { sharedName } from './shared-name.js';

interface Ground {
  root: string;
  config: Pick<Config, 'store'>;
  env: Env;
  clock: { monotonicMs(): number };
  /** Whether this machine trusts every part of the folder that can act. */
  isTrusted: boolean;
  /** Files that people approved during the work, and that nobody has published yet. */
  hired(): ReadonlySet<string>;
  /** The agents of this folder. */
  names(): Iterable<string>;
  /** Shows other machines why this process takes no work. */
  hold(reason: string | undefined): void;
  /** For the person who started this process. */
  report(problem: Problem): void;
}

interface Released {
  /** Holds all agents while the definitions here are not those that were published. */
  pauses(own: Pauses): Pauses;
  /** Believes answers that a desk signed. */
  consent(own: Consent): Consent;
}

export function released({ shelf, onScan }: FarParts, ground: Ground): Released {
  const { root, config, env, clock, isTrusted, names, hired, hold, report } = ground;
  const name = sharedName(config, env);
  if (name === undefined) return { pauses: (own) => own, consent: (own) => own };
  const definitions = shelf(DEFINITIONS);
  const keys = shelf(KEY);
  let isKnown = false;
  onScan(async () => void (isKnown = true));
  return {
    pauses: (own) =>
      withDefinitions(own, {
        isKnown: () => isKnown,
        isTrusted,
        published: () => publishedIn(definitions),
        own: () => definitionsHash(root, hired()),
        agents: names,
        report: (reason) => {
          hold(reason);
          if (reason !== undefined) report(problem('store_refused', reason));
        },
        monotonicMs: () => clock.monotonicMs(),
      }),
    consent: (own) => sharedConsent(own, name, () => keys.all().map(([, { value }]) => value)),
  };
}
