/** What the agent asks the person in this conversation. */
import type { JSX } from 'preact';
import type { Conversation, Requests } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Panel } from '../parts.tsx';
import { RequestRow } from '../request/row.tsx';

export function Asking({ talk: { id, task } }: { talk: Conversation }): JSX.Element | null {
  const { data } = useRead<Requests>(task?.state === 'waiting' ? '/api/requests' : undefined);
  const open = data.value?.open.filter(({ session }) => session === id) ?? [];
  if (open.length === 0) return null;
  return (
    <Panel title="Waiting for you" count={open.length}>
      {open.map((request) => (
        <RequestRow key={request.id} request={request} />
      ))}
    </Panel>
  );
}
