/** Exactly what the model is sent next in a conversation: system text, tools and messages. */
import type { JSX } from 'preact';
import type { Prompt as Data } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { Icon } from '../icons.tsx';
import { Panel, ProblemBox, Still } from '../parts.tsx';
import { address } from '../router.ts';
import { count, visible } from '../text.ts';

export function Prompt({ id }: { id: string }): JSX.Element {
  const { data, problem } = useRead<Data>(`/api/sessions/${encodeURIComponent(id)}/prompt`);
  const prompt = data.value;
  return (
    <div class="page">
      <div class="head">
        <h1>What the model gets</h1>
        <a class="link" href={address('conversation', id)}>
          The conversation
        </a>
        {prompt !== undefined && (
          <span class="meta">
            {visible(prompt.model ?? '')}, about {count(prompt.tokens)} tokens
          </span>
        )}
      </div>
      {problem.value !== undefined && <ProblemBox problem={problem.value} />}
      {prompt === undefined ? (
        problem.value === undefined && <Still rows={8} />
      ) : (
        <div class="stack">
          <Panel title="System text">
            <pre class="b">{visible(prompt.system)}</pre>
          </Panel>
          <Panel title="Tools" count={prompt.tools.length}>
            {prompt.tools.map(({ name, about, text }) => (
              <details key={name} class="fold">
                <summary>
                  <Icon name="right" small />
                  <b>{visible(name)}</b>
                  <span class="one dim">{visible(about)}</span>
                </summary>
                <pre>{visible(text)}</pre>
              </details>
            ))}
          </Panel>
          <Panel title="Messages" count={prompt.messages.length}>
            {prompt.messages.map(({ role, text }, i) => (
              <div key={i} class="b sent">
                <h3>
                  {i + 1} <span class="chip">{role}</span>
                </h3>
                <pre>{visible(text)}</pre>
              </div>
            ))}
          </Panel>
        </div>
      )}
    </div>
  );
}
