/** The next message to an agent. An ended conversation continues with it as a new task. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Conversation } from '../../src/web/base/contract.ts';
import { send, type Sent } from '../api.ts';
import { Refused, whyNot } from '../parts.tsx';
import { visible } from '../text.ts';

export function Composer({ talk }: { talk: Conversation }): JSX.Element | null {
  const box = useRef<HTMLTextAreaElement>(null);
  const [sent, setSent] = useState<Sent>();
  const [said, setSaid] = useState<{ text: string; total: number }>();
  if (talk.task === undefined) return null;
  const isOpen = talk.task.state !== 'completed' && talk.task.state !== 'failed';
  const say = async (): Promise<void> => {
    const text = box.current?.value ?? '';
    if (text.trim() === '' || whyNot() !== undefined) return;
    const result = await send('task.tell', talk.task!.id, { text });
    setSent(result);
    if (!result.ok || box.current === null) return;
    box.current.value = '';
    setSaid({ text, total: talk.total });
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') box.current?.blur();
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) void say();
  };
  const about = isOpen ? 'it reads it before its next turn' : 'it continues this conversation';
  return (
    <div class="comp">
      <Refused sent={sent} />
      {said !== undefined && said.total === talk.total && (
        <p class="dim bx">
          <span class="one">
            Sent: “{visible(said.text)}”. It is in the conversation as soon as the agent reads it.
          </span>
        </p>
      )}
      <div class="bx">
        <textarea
          ref={box}
          rows={1}
          aria-label={`Message ${visible(talk.agent)}`}
          title={`Message ${visible(talk.agent)}; ${about}`}
          placeholder={`Message ${visible(talk.agent)}; ${about}`}
          onKeyDown={onKey}
        />
        <button
          type="button"
          class="btn pri"
          disabled={whyNot() !== undefined}
          title={whyNot()}
          onClick={() => void say()}
        >
          Send <kbd>⌘ ↵</kbd>
        </button>
      </div>
    </div>
  );
}
