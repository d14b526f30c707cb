/**
 * Holds every agent of this process while its definitions are not those that were published, or
 * this machine does not trust them, so that no work is done under rules that nobody released, or
 * with only some of the tools.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { Pauses } from '../../ports/pauses.js';
import type { Published } from './index.js';

interface DefinitionsCheck {
  /** Whether the store was looked at yet. Before that, agents wait without a message. */
  isKnown(): boolean;
  /** Whether this machine trusts every part of the folder that can act. */
  isTrusted: boolean;
  /** As of the last look at the store. */
  published(): Published | undefined;
  /** The hash of the definitions in this folder. */
  own(): string;
  agents(): Iterable<string>;
  /** Called when the reason why agents are held changes; undefined: they are not held. */
  report(reason: string | undefined): void;
  monotonicMs(): number;
}

const UNTRUSTED =
  'this machine does not trust the workspace: set GUILD_TRUST to the digest that guild publish printed, or run guild trust here';
const NOT_PUBLISHED =
  'no definitions were published for this store, or their entry cannot be read: run guild publish at a desk';

export function withDefinitions(pauses: Pauses, check: DefinitionsCheck): Pauses {
  let own = { hash: '', atMs: -Infinity };
  let reported: string | undefined;
  const reason = (): string | undefined => {
    const why = mismatch();
    if (!check.isKnown()) return why;
    if (why !== reported) check.report(why);
    reported = why;
    return why;
  };
  const mismatch = (): string | undefined => {
    const published = check.published();
    if (published === undefined) return NOT_PUBLISHED;
    const now = check.monotonicMs();
    if (now - own.atMs > INTERVALS.definitionsCheckMs) own = { hash: check.own(), atMs: now };
    if (own.hash === published.hash) return check.isTrusted ? undefined : UNTRUSTED;
    const commit = published.commit === undefined ? '' : ` (commit ${published.commit})`;
    return `the definitions in this folder differ from the published ones${commit}: bring it up to date, or run guild publish at a desk`;
  };
  const held = (paused: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
    const why = reason();
    return why === undefined
      ? paused
      : new Map([...[...check.agents()].map((agent) => [agent, why] as const), ...paused]);
  };
  return {
    ...pauses,
    look: () => held(pauses.look()),
    all: () => held(pauses.all()),
    isPaused: (agent) => reason() !== undefined || pauses.isPaused(agent),
  };
}
