/** History: every change as a commit, and what an undo would do before it is done. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { HistoryPage, UndoPreview } from '../../src/web/base/contract.ts';
import { send, useRead, type Sent } from '../api.ts';
import { Icon } from '../icons.tsx';
import { ActButton, Empty, Loaded, Panel, ProblemBox, Refused, Still } from '../parts.tsx';
import { changedLines, Diff } from '../request/diff.tsx';
import { address, useBroughtTo } from '../router.ts';
import { ago, plural, visible } from '../text.ts';

export function History({ id }: { id: string }): JSX.Element {
  const read = useRead<HistoryPage>('/api/history');
  return (
    <div class="page">
      <div class="head">
        <h1>History</h1>
        <span class="meta">Every change of the workspace, and the way back</span>
      </div>
      <Loaded read={read}>
        {(history) =>
          !history.on || history.commits.length === 0 ? (
            <Empty icon="history" title="No history is kept yet">
              {visible(history.why ?? 'The first commit comes with the first run.')}
            </Empty>
          ) : (
            <div class="graph hist">
              <section class="panel">
                {history.commits.map((commit) => (
                  <a
                    key={commit.id}
                    class={commit.id === id ? 'row hrow on' : 'row hrow'}
                    href={address('history', commit.id)}
                  >
                    <code class="dim">{commit.id.slice(0, 8)}</code>
                    <span class="main">
                      {commit.task !== undefined && <span class="one">{visible(commit.task.title)}</span>}
                      <span class={commit.task === undefined ? 'lines' : 'one mid'}>{visible(commit.subject)}</span>
                    </span>
                    <span class="num">{ago(commit.at)}</span>
                  </a>
                ))}
              </section>
              {id === '' ? (
                <Empty icon="history" title="Choose a commit to see what going back to it would change" />
              ) : (
                <Preview key={id} id={id} />
              )}
            </div>
          )
        }
      </Loaded>
    </div>
  );
}

function Preview({ id }: { id: string }): JSX.Element {
  const { data, problem } = useRead<UndoPreview>(`/api/history/${encodeURIComponent(id)}/undo`);
  const [isSure, setSure] = useState(false);
  const [sent, setSent] = useState<Sent>();
  const place = useBroughtTo(data.value !== undefined);
  if (problem.value !== undefined) return <ProblemBox problem={problem.value} />;
  if (data.value === undefined) return <Still />;
  const { files, to } = data.value;
  const undo = (): void => {
    if (isSure) void send('history.undo', id).then((result) => (setSent(result), setSure(false)));
    else setSure(true);
  };
  return (
    <div class="beside" ref={place}>
      <Panel
        title={`Back to ${to.id.slice(0, 8)}`}
        side={
          <ActButton class={isSure ? 'btn sm danger' : 'btn sm'} disabled={files.length === 0} onClick={undo}>
            {isSure ? `Really change ${plural(files.length, 'file')}` : 'Undo to here'}
          </ActButton>
        }
      >
        <div class="b">
          <Refused sent={sent} />
          {sent?.ok === true && <p>Done, as a new commit. You can go forward again.</p>}
          <p class="dim">{plural(files.length, 'file')} would change.</p>
        </div>
        <ul class="list">
          {files.slice(0, 500).map((each) => (
            <ChangedFile key={each.file} {...each} />
          ))}
        </ul>
      </Panel>
    </div>
  );
}

/** Folded; a long file, or one that is not text, has only its name. */
function ChangedFile({ file, change, lines }: UndoPreview['files'][number]): JSX.Element {
  const head = (
    <>
      <code class="one">{visible(file)}</code>
      <span class="r">{change}</span>
    </>
  );
  if (lines === undefined || lines.length === 0) return <li>{head}</li>;
  const { added, removed } = changedLines(lines);
  return (
    <li class="undofile">
      <details class="fold">
        <summary>
          <Icon name="right" small />
          {head}
          <span class="pm">
            <span class="plus">+{added}</span> <span class="minus">−{removed}</span>
          </span>
        </summary>
        <Diff lines={lines} path={file} names={['Now', 'After undo']} />
      </details>
    </li>
  );
}
