/** Steps under way. An event names a step when it has ended, so these come from the live turns. */
import type { Lane, Span, TreeRow, TurnNow } from '../../src/web/base/contract.ts';

type Turns = ReadonlyMap<string, TurnNow>;

export function withRunning(rows: readonly TreeRow[], turns: Turns): readonly TreeRow[] {
  if (turns.size === 0) return rows;
  return rows.map((row) => {
    const turn = row.endedAt === undefined ? turns.get(row.id) : undefined;
    return turn === undefined ? row : { ...row, spans: [...row.spans, spanOf(turn, row.spans)] };
  });
}

/** An agent that works for the first time gets its own lane. */
export function lanesWithRunning(lanes: readonly Lane[], turns: Turns): Lane[] {
  const all = new Map(lanes.map((lane) => [lane.agent, lane]));
  for (const turn of turns.values()) {
    const { agent, spans } = all.get(turn.agent) ?? { agent: turn.agent, spans: [] };
    all.set(agent, { agent, spans: [...spans, spanOf(turn, spans)] });
  }
  return [...all.values()];
}

/** It began when the step before it ended. */
function spanOf({ since, tool }: TurnNow, before: readonly Span[]): Span {
  const start = before.reduce((last, { end = '' }) => (end > last ? end : last), since);
  return tool === undefined ? { kind: 'model', start, label: 'running' } : { kind: 'tool', start, label: tool.name };
}
