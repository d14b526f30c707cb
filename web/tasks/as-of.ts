/** The tree of a run as it was at a moment. */
import type { TreeRow } from '../../src/web/base/contract.ts';

/** The tasks that existed at that moment, with their states then, and the spans up to it. */
export function asOf(rows: readonly TreeRow[], moment: number): readonly TreeRow[] {
  if (moment === Infinity) return rows;
  const iso = new Date(moment).toISOString();
  return rows.filter((row) => row.createdAt <= iso).map((row) => rowAt(row, iso));
}

function rowAt(row: TreeRow, iso: string): TreeRow {
  const spans = row.spans
    .filter((span) => span.start <= iso)
    .map((span) => ({ ...span, end: span.end !== undefined && span.end < iso ? span.end : iso }));
  if (row.endedAt !== undefined && row.endedAt <= iso) return { ...row, spans };
  const { code: _, ...open } = row;
  const isWaiting = ['wait', 'you'].includes(spans.at(-1)?.kind ?? '');
  return { ...open, spans, endedAt: iso, state: spans.length === 0 ? 'pending' : isWaiting ? 'waiting' : 'active' };
}
