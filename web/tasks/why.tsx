/** Why a task is in its state: what it waits for, who asked, and what happened. */
import type { JSX } from 'preact';
import type { Why } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { ProblemBox, Still } from '../parts.tsx';
import { clock, visible } from '../text.ts';

export function WhyView({ id }: { id: string }): JSX.Element {
  const { data, problem } = useRead<Why>(`/api/tasks/${encodeURIComponent(id)}/why`);
  if (problem.value !== undefined) return <ProblemBox problem={problem.value} />;
  if (data.value === undefined) return <Still />;
  const { chain, shares, origin, story } = data.value;
  return (
    <div class="b why">
      {chain.map((line, i) => (
        <p key={i} class={`d${Math.min(i, 8)}`}>
          {i > 0 && '→ '}
          {visible(line)}
        </p>
      ))}
      {shares.map((line) => (
        <p key={line}>{visible(line)}</p>
      ))}
      <h3>Who asked</h3>
      {origin.map((line, i) => (
        <p key={i} class={`d${Math.min(i, 8)}`}>
          {visible(line)}
        </p>
      ))}
      <h3>What happened</h3>
      <ol class="story">
        {story.map(({ at, text }, i) => (
          <li key={i}>
            <time>{clock(at)}</time> {visible(text)}
          </li>
        ))}
      </ol>
    </div>
  );
}
