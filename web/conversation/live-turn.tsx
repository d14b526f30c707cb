/** The agent's words right now, before they are a message of the conversation. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Conversation } from '../../src/web/base/contract.ts';
import { Icon } from '../icons.tsx';
import { moment } from '../moment.ts';
import { turns } from '../turns.ts';
import { visible } from '../text.ts';

export function LiveTurn({ talk }: { talk: Conversation }): JSX.Element | null {
  const place = useRef<HTMLElement>(null);
  const isPast = moment.value !== undefined;
  const turn = talk.task === undefined || isPast ? undefined : turns.value.get(talk.task.id);
  const words = turn?.words ?? '';
  useEffect(() => {
    // A person who has scrolled up to read is not moved.
    const box = place.current?.closest('.cscroll');
    if (box !== null && box !== undefined && box.scrollHeight - box.scrollTop - box.clientHeight < 120)
      place.current?.scrollIntoView({ block: 'end' });
  }, [words]);
  if (turn === undefined) return null;
  return (
    <article class="msg" ref={place} aria-live="off">
      <span class="av s-run">{visible(turn.agent.slice(0, 1).toUpperCase())}</span>
      <div class="body">
        <div class="who">
          <b>{visible(turn.agent)}</b>
          <span class="chip s-run turning">
            <Icon name="run" /> {turn.tool === undefined ? 'writing' : 'working'}
          </span>
        </div>
        {turn.tool !== undefined && (
          <p class="w">
            <Icon name="term" small /> <code>{visible(turn.tool.name)}</code>{' '}
            <code class="one">{visible(turn.tool.line ?? turn.tool.argument)}</code>
          </p>
        )}
        {words !== '' && (
          <div class="txt livewords">
            {turn.isCut && '… '}
            {visible(words)}
            <span class="caret" />
          </div>
        )}
      </div>
    </article>
  );
}
