/** Search and commands in one box: pages, agents, tasks, messages and acts. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AgentList, MessagesFound, TaskPage } from '../src/web/base/contract.ts';
import { isAdding } from './adding.ts';
import { hello, useRead } from './api.ts';
import { Icon, type IconName } from './icons.tsx';
import { taskLook } from './parts.tsx';
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

const TASKS_SHOWN = 6;
/** A shorter text is in nearly every message. */
const TEXT_MIN = 2;
const TYPING_MS = 120;

/** A read-only window does not search words: guests could guess what is hidden from them. */
export function searchText(): string {
  return hello.value?.readOnly === true ? 'Search agents and pages' : 'Search tasks, agents, messages…';
}

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
  const { found, isPartial } = useFound(text.trim(), asked);
  const close = (): void => void (isPaletteOpen.value = false);
  const chosen = found[Math.min(at, found.length - 1)];
  useEffect(() => document.querySelector('.palette li.on')?.scrollIntoView({ block: 'nearest' }), [at]);
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
            aria-label={searchText()}
            placeholder={searchText()}
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
          {isPartial && <li class="dim">More messages may match</li>}
        </ul>
      </div>
    </div>
  );
}

function useFound(text: string, asked: string): { found: Found[]; isPartial: boolean } {
  const agents = useRead<AgentList>('/api/agents').data.value?.agents ?? [];
  const where = `description LIKE '%${asked.replace(/['"\\%]/g, '_')}%'`;
  const limit = `&limit=${TASKS_SHOWN}`;
  const isSearched = asked !== '' && text !== '' && hello.value?.readOnly !== true;
  const tasks = useRead<TaskPage>(isSearched ? `/api/tasks?where=${encodeURIComponent(where)}${limit}` : undefined);
  const words = isSearched && asked.length >= TEXT_MIN ? `/api/messages?text=${encodeURIComponent(asked)}` : undefined;
  const messages = useRead<MessagesFound>(words);
  const has = (title: string): boolean => title.toLowerCase().includes(text.toLowerCase());
  const acts: Found[] = [
    { key: 'new', icon: 'plus', title: 'New task', about: 'C', act: () => void (isAdding.value = true) },
  ];
  const found = [
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
    ...(tasks.data.value?.rows ?? []).map((row): Found => {
      const { id, title } = row;
      const about = taskLook(row).word.toLowerCase();
      return { key: `task ${id}`, icon: 'tasks', title, about, act: () => go(address('task', id)) };
    }),
    ...(messages.data.value?.found ?? []).map(({ session, n, agent, title, text: said }): Found => {
      const act = (): void => go(`${address('conversation', session)}?m=${n}`);
      return { key: `message ${session} ${n}`, icon: 'chat', title: said, about: `${agent}, “${title}”`, act };
    }),
  ];
  return { found, isPartial: messages.data.value?.isPartial ?? false };
}
