/** The form for a new task: what, and for whom. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AgentList } from '../../src/web/base/contract.ts';
import { addingFor } from '../adding.ts';
import { send, useRead, type Sent } from '../api.ts';
import { ActButton, Refused } from '../parts.tsx';
import { address, go } from '../router.ts';
import { SEND_KEY } from '../keys.ts';

export function NewTask({ close }: { close: () => void }): JSX.Element {
  const { data } = useRead<AgentList>('/api/agents');
  const text = useRef<HTMLTextAreaElement>(null);
  const agent = useRef<HTMLSelectElement>(null);
  const [sent, setSent] = useState<Sent>();
  const [whom] = useState(addingFor.value);
  const title = whom === '' ? 'New task' : `Talk to ${whom}`;
  useLayoutEffect(() => {
    text.current?.focus();
    return () => void (addingFor.value = '');
  }, []);
  const add = async (): Promise<void> => {
    const result = await send('task.add', '', {
      description: text.current?.value ?? '',
      to: agent.current?.value ?? '',
    });
    setSent(result);
    if (!result.ok) return;
    close();
    if (result.made?.task !== undefined) go(address('task', result.made.task));
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close();
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void add();
  };
  return (
    <div class="over">
      <div class="panel form" role="dialog" aria-label={title} onKeyDown={onKey}>
        <header>
          <h2>{title}</h2>
        </header>
        <div class="b">
          <Refused sent={sent} />
          <label>
            {whom === '' ? 'What should be done?' : 'Your message'}
            <textarea ref={text} rows={5} />
          </label>
          <label>
            For
            <select ref={agent}>
              <option value="">the agent that fits best</option>
              {data.value?.agents.map(({ name }) => (
                <option key={name} value={name} selected={name === whom}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <div class="acts">
            <button type="button" class="btn" onClick={close}>
              Cancel <kbd>Esc</kbd>
            </button>
            <ActButton class="btn pri" onClick={() => void add()}>
              {whom === '' ? 'Add' : 'Send'} <kbd>{SEND_KEY}</kbd>
            </ActButton>
          </div>
        </div>
      </div>
    </div>
  );
}
