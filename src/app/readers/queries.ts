/** Queries and board checks for the command line, on the real disk. */
import { ids } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import {
  lintFile as lint,
  runQuery as run,
  streamQuery,
  type BoardProblem,
  type QueryOptions,
  type QueryReply,
  type Sources,
} from '../../adapters/boards/queries.js';

export { streamQuery };
export type { QueryReply, RowStream, Sources } from '../../adapters/boards/queries.js';

export function runQuery(
  text: string,
  { root, sources }: { root: string; sources: Sources },
  options: QueryOptions = {},
): Promise<QueryReply> {
  return run(text, { root, sources, disk: disk(), ids: ids() }, options);
}

export function lintFile(file: string, root: string): BoardProblem[] {
  return lint(file, { root, disk: disk() });
}
