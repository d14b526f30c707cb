/** Search and commands in one box: pages, agents, tasks and acts. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AgentList, TaskPage } from '../src/web/base/contract.ts';
import { isAdding } from './adding.ts';
import { hello, useRead } from './api.ts';
import { Icon, type IconName } from './icons.tsx';
import { address, go } from './router.ts';
import { visible } from './text.ts';

export const isPaletteOpen = signal(false);

interface Found {
  key: string;
  icon: IconName;
  title: string;
  about: string;
  act: () => void;
}

const PAGES: [string, string, IconName][] = [
  ['hall', 'Hall', 'hall'],
  ['inbox', 'Inbox', 'inbox'],
  ['tasks', 'Tasks', 'tasks'],
  ['waits', 'Wait graph', 'waits'],
  ['conversations', 'Conversations', 'chat'],
  ['agents', 'Agents', 'agents'],
  ['boards', 'Boards', 'boards'],
  ['notes', 'Notes', 'notes'],
  ['costs', 'Costs', 'costs'],
  ['history', 'History', 'history'],
  ['replay', 'Replay', 'replay'],
  ['machines', 'Machines', 'term'],
];

const SHOWN_MAX = 12;
const TYPING_MS = 120;

export function Palette(): JSX.Element {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [at, setAt] = useState(0);
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => box.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useFound(text.trim(), asked);
  const close = (): void => void (isPaletteOpen.value = false);
  const chosen = found[Math.min(at, found.length - 1)];
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Enter') {
      close();
      chosen?.act();
    } else return;
    event.preventDefault();
  };
  return (
    <div class="over top-aligned" onClick={close}>
      <div
        class="panel palette"
        role="dialog"
        aria-label="Search"
        onClick={(event) => event.stopPropagation()}
        onKeyDown={onKey}
      >
        <label class="qbar">
          <Icon name="search" />
          <input
            ref={box}
            value={text}
            spellcheck={false}
            aria-label="Search tasks, agents and pages"
            placeholder="Search tasks, agents and pages"
            onInput={(event) => (setText(event.currentTarget.value), setAt(0))}
          />
          <kbd>Esc</kbd>
        </label>
        <ul class="list">
          {found.map((each) => (
            <li key={each.key} class={each === chosen ? 'on' : ''}>
              <button type="button" onClick={() => (close(), each.act())}>
                <Icon name={each.icon} small />
                <span class="one">{visible(each.title)}</span>
                <span class="r">{visible(each.about)}</span>
              </button>
            </li>
          ))}
          {found.length === 0 && <li class="dim">Nothing matches</li>}
        </ul>
      </div>
    </div>
  );
}

function useFound(text: string, asked: string): Found[] {
  const agents = useRead<AgentList>('/api/agents').data.value?.agents ?? [];
  const where = asked === '' ? '' : `description LIKE '%${asked.replace(/['"\\%]/g, '_')}%'`;
  const tasks = useRead<TaskPage>(`/api/tasks?where=${encodeURIComponent(where)}&limit=8`).data.value?.rows ?? [];
  const has = (title: string): boolean => title.toLowerCase().includes(text.toLowerCase());
  const acts: Found[] = [
    { key: 'new', icon: 'plus', title: 'New task', about: 'C', act: () => void (isAdding.value = true) },
  ];
  return [
    ...PAGES.filter(([, name]) => has(name)).map(([page, name, icon]): Found => {
      return { key: `page ${page}`, icon, title: name, about: 'page', act: () => go(`#/${page}`) };
    }),
    ...acts.filter(({ title }) => hello.value?.readOnly !== true && has(title)),
    ...agents
      .filter(({ name, description }) => text !== '' && (has(name) || has(description)))
      .map(({ name, description }): Found => {
        const act = (): void => go(address('agents', name));
        return { key: `agent ${name}`, icon: 'agents', title: name, about: description, act };
      }),
    ...(text === '' ? [] : tasks).map(({ id, title, state }): Found => {
      return { key: `task ${id}`, icon: 'tasks', title, about: state, act: () => go(address('task', id)) };
    }),
  ].slice(0, SHOWN_MAX);
}
