/** The intent that moving a task to another column means, if any. */
import type { IntentKind, Row, TaskBoard } from '../../src/web/base/contract.ts';

export type Column = TaskBoard['columns'][number]['state'];

export interface Move {
  to: Column;
  name: string;
  kind: IntentKind;
  /** The question before a move that ends work. */
  asks?: string;
}

const CANCEL: Move = {
  to: 'failed',
  name: 'Cancel',
  kind: 'task.cancel',
  asks: 'Why? The task and everything below it ends.',
};
const STOP: Move = { to: 'completed', name: 'Stop with what it has', kind: 'task.stop' };
const RETRY: Move = { to: 'pending', name: 'Retry', kind: 'task.retry' };

/** A request of an agent is answered in the inbox, never by moving it. */
export function movesOf(row: Pick<Row, 'state' | 'agent'>): Move[] {
  if (row.agent === 'human') return [];
  if (row.state === 'failed') return [RETRY];
  if (row.state === 'completed') return [];
  return row.state === 'pending' ? [CANCEL] : [STOP, CANCEL];
}
