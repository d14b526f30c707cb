/**
 * `storage/terminal-cmd-allowlist.yaml`: commands that run by themselves or are always asked for.
 */
import { key, needed } from './about.js';
import { flag } from './values.js';
import * as z from './zod.js';

const detailed = z.strictObject({
  approve: needed(flag, '`true`: the command runs without approval. `false`: it always needs approval.', {
    example: 'false',
  }),
  matchCommandLine: key(flag, 'Try a `/pattern/` on the whole command line instead of each command in it.', {
    default: '`false`',
  }),
});

const entry = z.union([z.null(), flag, detailed], { error: 'true, false, null or {approve, matchCommandLine}' });
export type AllowlistEntry = z.infer<typeof entry>;

export const allowlistYaml = z.record(z.string(), entry, { error: 'a mapping' });
