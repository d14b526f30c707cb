/** Answers a question: a choice or words. A preselected answer is never sent by itself. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Request } from '../../src/web/base/contract.ts';
import { SEND_KEY, useKeys } from '../keys.ts';
import { ActButton } from '../parts.tsx';
import { answerRequest, mayAnswer } from './answers.ts';
import type { BarProps } from './answer-bar.tsx';

export function QuestionBar({ request, answer, move, decline }: BarProps & { decline: () => void }): JSX.Element {
  const box = useRef<HTMLTextAreaElement>(null);
  const { choices, default: preselected } = request.question!;
  const say = (text: string): void => {
    if (text.trim() !== '') void answer('request.answer', { text });
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') box.current?.blur();
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) say(box.current?.value ?? '');
  };
  useKeys({
    ...Object.fromEntries(
      (choices ?? []).slice(0, 9).map((choice, i) => [String(i + 1), () => mayAnswer(request) && say(choice)]),
    ),
    n: () => mayAnswer(request) && decline(),
    e: () => box.current?.focus(),
    s: () => move(1),
  });
  return (
    <div class={choices === undefined ? 'abar write' : 'abar choices'}>
      {choices?.map((choice, i) => (
        <ActButton key={choice} class={choice === preselected ? 'btn pri' : 'btn'} onClick={() => say(choice)}>
          {choice} {i < 9 && <kbd>{i + 1}</kbd>}
        </ActButton>
      ))}
      {choices === undefined && (
        <label>
          Your answer
          <textarea ref={box} rows={2} defaultValue={preselected ?? ''} onKeyDown={onKey} />
        </label>
      )}
      <span class="acts">
        {choices === undefined && (
          <ActButton class="btn pri" onClick={() => say(box.current?.value ?? '')}>
            Answer <kbd>{SEND_KEY}</kbd>
          </ActButton>
        )}
        <ActButton class="btn" onClick={decline}>
          Decline… <kbd>N</kbd>
        </ActButton>
        <button type="button" class="btn ghost" onClick={() => move(1)}>
          Skip <kbd>S</kbd>
        </button>
      </span>
    </div>
  );
}

/** In the hall: the choices of a question, answered in place. */
export function Choices({ request }: { request: Request }): JSX.Element {
  const [problem, setProblem] = useState<string>();
  const choose = async (text: string): Promise<void> => {
    if (!mayAnswer(request)) return;
    const sent = await answerRequest(request, 'request.answer', { text });
    setProblem(sent.ok ? undefined : sent.problem.message);
  };
  return (
    <span class="acts">
      {problem !== undefined && <span class="bad">{problem}</span>}
      {request.question?.choices?.map((choice) => (
        <ActButton key={choice} class="btn sm" onClick={() => void choose(choice)}>
          {choice}
        </ActButton>
      ))}
    </span>
  );
}
