/** Tasks: filters and the query language, as a list, as trees, or as a board by state. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { hello } from '../api.ts';
import { Icon } from '../icons.tsx';
import { useKeys } from '../keys.ts';
import { NewTaskButton, Segments } from '../parts.tsx';
import { go, place } from '../router.ts';
import { Board } from '../tasks/board.tsx';
import { List, totals } from '../tasks/list.tsx';
import { capitalized, count, plural } from '../text.ts';

const FILTERS: [string, string][] = [
  ['All', ''],
  ['Open', "state IN ('pending', 'active', 'waiting')"],
  ['Needs you', "to = 'human' AND state IN ('pending', 'active', 'waiting')"],
  ['Failed', "state = 'failed'"],
  ['Roots', 'parent IS NULL'],
];

const FIELDS = ['state', 'to', 'role', 'description', 'parent', 'result', 'created_at', 'ended_at', 'error.code'];
const VIEWS = ['list', 'board', 'tree'] as const;
type View = (typeof VIEWS)[number];

export function Tasks(): JSX.Element {
  const where = place.value.query.get('where') ?? '';
  const view = (place.value.query.get('view') ?? 'list') as View;
  const ask = (next: string, as: View = view): void => {
    const query = new URLSearchParams([
      ...(next === '' ? [] : [['where', next]]),
      ...(as === 'list' ? [] : [['view', as]]),
    ]);
    go(`#/tasks${query.size === 0 ? '' : `?${query.toString()}`}`);
  };
  const { pending = 0, active = 0, waiting = 0 } = hello.value?.counts ?? {};
  return (
    <div class="page tasks">
      <div class="head">
        <h1>Tasks</h1>
        <span class="meta">
          {count(pending + active + waiting)} open
          {totals.value === undefined ? '' : `, ${count(totals.value.all)} total`}
        </span>
        <Segments label="Which tasks" of={FILTERS} chosen={where} choose={ask} />
        <span class="grow" />
        <Segments label="View" of={VIEWS.map(capitalized)} chosen={view} choose={(each) => ask(where, each)} />
        <NewTaskButton />
      </div>
      <QueryBar where={where} ask={ask} />
      {view === 'board' ? (
        <Board where={where} />
      ) : (
        <List key={`${view} ${where}`} where={where} isTree={view === 'tree'} />
      )}
    </div>
  );
}

function QueryBar({ where, ask }: { where: string; ask: (where: string) => void }): JSX.Element {
  const [text, setText] = useState(where);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => setText(where), [where]);
  useKeys({ '/': () => box.current?.focus() });
  const ran = totals.value;
  return (
    <label class="qbar">
      <Icon name="search" />
      <code class="kw">WHERE</code>
      <input
        ref={box}
        value={text}
        list="fields"
        spellcheck={false}
        autocomplete="off"
        aria-label="Query"
        placeholder="state = 'failed' AND to = 'writer' ORDER BY created_at DESC"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') ask(text);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <datalist id="fields">
        {FIELDS.map((field) => (
          <option key={field} value={completed(text, field)} />
        ))}
      </datalist>
      {ran?.where === where && (
        <span class="dim wideonly">
          {count(ran.total)} of {plural(ran.all, 'task')}
        </span>
      )}
      <kbd>↵</kbd>
    </label>
  );
}

/** The text with its last word replaced by the name of a field. */
function completed(text: string, field: string): string {
  return `${text.replace(/[\w.]*$/, '')}${field}`;
}
