/** Keys of models that pending tasks need and that this environment does not have. */
import { waitingForKeys } from '../../app/live/model-key.js';
import type { Snapshot } from '../../app/readers/open-states.js';
import { heldNow } from '../../app/trust/held-agents.js';
import type { Problem } from '../../domain/problem.js';
import type { Feed } from '../base/feed.js';

export function missingKeys({ open, takers, roster, config }: Snapshot, { root, env }: Feed): Problem[] {
  const pending = open.filter(({ state }) => state === 'pending');
  const names = new Set(pending.map(({ task }) => task.to ?? takers.get(task.id) ?? ''));
  const waiting = [...names].flatMap((name) => roster.get(name) ?? []);
  const found = waitingForKeys(waiting, { config, held: new Map() }, env);
  // Reads the file of every agent, so only if something is missing.
  return found.length === 0 ? found : waitingForKeys(waiting, { config, held: heldNow(root, env) }, env);
}
