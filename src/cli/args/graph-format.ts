/**
 * The format of a graph: `--format`, its short options, or `--json`, in the spellings people use.
 */
import { nearest } from '../../domain/nearest.js';
import { problemError } from '../../domain/problem.js';
import { text, type Values } from './command.js';

const SPELLINGS: Record<string, string> = { txt: 'text', plain: 'text', mmd: 'mermaid', graphviz: 'dot', gv: 'dot' };

export function graphFormat<F extends string>(values: Values, formats: readonly F[]): F | 'json' {
  const short = formats.find((known) => values[known] === true);
  const written = text(values, 'format') ?? short ?? formats[0]!;
  const named = written.toLowerCase();
  const all = [...formats, 'json'] as const;
  const format = all.find((known) => known === (SPELLINGS[named] ?? named));
  if (format !== undefined) return values['json'] === true ? 'json' : format;
  const meant = nearest(named, all);
  throw problemError('bad_usage', `there is no format ${JSON.stringify(written)}`, {
    hint:
      meant === undefined ? `the formats are ${all.join(', ')}` : `did you mean ${meant}? There are ${all.join(', ')}`,
  });
}
