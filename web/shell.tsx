/** The frame of every page: top bar, rail, bottom bar on a phone, state of the connection. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { connection, hello } from './api.ts';
import { Icon, type IconName } from './icons.tsx';
import { commandKey, SEND_KEY, useKeys } from './keys.ts';
import { Agents } from './pages/agents.tsx';
import { Boards } from './pages/boards.tsx';
import { Compare, Conversation, Conversations } from './pages/conversation.tsx';
import { Costs } from './pages/costs.tsx';
import { Hall } from './pages/hall.tsx';
import { History } from './pages/history.tsx';
import { Inbox } from './pages/inbox.tsx';
import { NewTask } from './pages/new-task.tsx';
import { Machines } from './pages/machines.tsx';
import { Notes } from './pages/notes.tsx';
import { Prompt } from './pages/prompt.tsx';
import { Replay } from './pages/replay.tsx';
import { Task } from './pages/task.tsx';
import { Tasks } from './pages/tasks.tsx';
import { WaitGraph } from './pages/waits.tsx';
import { isAdding } from './adding.ts';
import { Notices } from './notices.tsx';
import { SpentToday } from './charts/budget-bar.tsx';
import { isPaletteOpen, Palette, searchText } from './palette.tsx';
import { PastBar } from './past-bar.tsx';
import { place } from './router.ts';
import { plural, visible } from './text.ts';

interface Entry {
  page: string;
  name: string;
  icon: IconName;
  /** Pages that belong to this entry. */
  also?: string;
  count?: () => number;
}

const FIRST: Entry[] = [
  { page: 'hall', name: 'Hall', icon: 'hall' },
  { page: 'inbox', name: 'Inbox', icon: 'inbox', count: () => hello.value?.counts.requests ?? 0 },
  { page: 'tasks', name: 'Tasks', icon: 'tasks', also: 'task', count: openTasks },
  { page: 'waits', name: 'Wait graph', icon: 'waits' },
  { page: 'conversations', name: 'Conversations', icon: 'chat', also: 'conversation' },
  { page: 'agents', name: 'Agents', icon: 'agents' },
];
const SECOND: Entry[] = [
  { page: 'boards', name: 'Boards', icon: 'boards' },
  { page: 'notes', name: 'Notes', icon: 'notes' },
  { page: 'costs', name: 'Costs', icon: 'costs' },
  { page: 'history', name: 'History', icon: 'history' },
  { page: 'replay', name: 'Replay', icon: 'replay' },
  { page: 'machines', name: 'Machines', icon: 'term' },
];

function openTasks(): number {
  const { pending = 0, active = 0, waiting = 0 } = hello.value?.counts ?? {};
  return pending + active + waiting;
}

const TABS: Entry[] = [
  ...FIRST.slice(0, 3),
  { page: 'conversations', name: 'Talk', icon: 'chat', also: 'conversation' },
];

const isKeysShown = signal(false);
const isMoreShown = signal(false);
const theme = signal(localStorage.getItem('theme') ?? '');

export function Shell(): JSX.Element {
  const main = useRef<HTMLElement>(null);
  const { page, id } = place.value;
  // Before the effects of the page, which may move the focus further.
  useLayoutEffect(() => {
    main.current?.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [page, id]);
  useEffect(() => {
    if (theme.value === '') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme.value;
  }, [theme.value]);
  useKeys(
    {
      '?': () => (isKeysShown.value = !isKeysShown.value),
      c: () => (isAdding.value = hello.value?.readOnly !== true),
      '/': () => (isPaletteOpen.value = true),
      palette: () => (isPaletteOpen.value = true),
      Escape: () => {
        if (isKeysShown.value || isAdding.value) isKeysShown.value = isAdding.value = false;
        else history.back();
      },
    },
    0,
  );
  return (
    <div class="app">
      <TopBar />
      <nav class="side" aria-label="Pages">
        {FIRST.map((entry) => (
          <SideLink key={entry.page} entry={entry} page={page} />
        ))}
        <hr />
        {SECOND.map((entry) => (
          <SideLink key={entry.page} entry={entry} page={page} />
        ))}
        <Workers />
      </nav>
      <main ref={main} tabIndex={-1}>
        <Notices />
        {page !== 'replay' && <PastBar />}
        <Current page={page} id={id} />
      </main>
      <nav class="tabbar" aria-label="Main pages">
        {TABS.map((entry) => (
          <SideLink key={entry.page} entry={entry} page={page} />
        ))}
        <button
          type="button"
          aria-expanded={isMoreShown.value}
          aria-current={TABS.some((entry) => isHere(entry, page)) ? undefined : 'page'}
          onClick={() => (isMoreShown.value = !isMoreShown.value)}
        >
          <Icon name="more" />
          <span class="nl">More</span>
        </button>
      </nav>
      {isMoreShown.value && <More page={page} />}
      {isKeysShown.value && <KeyList />}
      {isPaletteOpen.value && <Palette />}
      {isAdding.value && <NewTask close={() => (isAdding.value = false)} />}
    </div>
  );
}

function Current({ page, id }: { page: string; id: string }): JSX.Element {
  switch (page) {
    case 'inbox':
      return <Inbox id={id} />;
    case 'tasks':
      return <Tasks />;
    case 'task':
      return <Task id={id} key={id} />;
    case 'waits':
      return <WaitGraph />;
    case 'conversations':
      return <Conversations />;
    case 'conversation':
      return <Conversation id={id} key={id} />;
    case 'compare':
      return <Compare ids={id.split('|').slice(0, 2)} />;
    case 'agents':
      return <Agents name={id} />;
    case 'costs':
      return <Costs />;
    case 'boards':
      return <Boards />;
    case 'notes':
      return <Notes channel={id} />;
    case 'history':
      return <History id={id} />;
    case 'replay':
      return <Replay id={id} />;
    case 'machines':
      return <Machines />;
    case 'prompt':
      return <Prompt id={id} />;
    default:
      return <Hall />;
  }
}

function TopBar(): JSX.Element {
  const { workspace, spend } = hello.value!;
  const isLive = connection.value.live;
  const isDark = theme.value === 'dark' || (theme.value === '' && matchMedia('(prefers-color-scheme: dark)').matches);
  const turn = (): void => {
    theme.value = isDark ? 'light' : 'dark';
    localStorage.setItem('theme', theme.value);
  };
  return (
    <header class="top">
      <a class="brand" href="#/hall">
        <span class="mark">
          <Icon name="hall" />
        </span>
        <span class="one">{visible(workspace.name)}</span>
      </a>
      <code class="path wide one" title={visible(workspace.path)}>
        {visible(shortened(workspace.shown))}
      </code>
      <button type="button" class="find" onClick={() => (isPaletteOpen.value = true)}>
        <Icon name="search" />
        <span>{searchText()}</span>
        <kbd>/</kbd>
      </button>
      <span class="sp" />
      {hello.value!.readOnly && <span class="chip s-wait">Read only</span>}
      <SpentToday spend={spend} />
      <span class={isLive ? 'stat live' : 'stat lost'} role="status">
        <span class="dot" />
        {isLive ? 'Live' : 'Not live'}
      </span>
      <button type="button" class="iconbtn" aria-label="Keys" onClick={() => (isKeysShown.value = true)}>
        <Icon name="q" />
      </button>
      <button type="button" class="iconbtn" aria-label={isDark ? 'Light colours' : 'Dark colours'} onClick={turn}>
        <Icon name="moon" />
      </button>
    </header>
  );
}

/** The last three folders of a long path: enough to tell two workspaces of one name apart. */
function shortened(path: string): string {
  const parts = path.split('/');
  return parts.length <= 4 ? path : `…/${parts.slice(-3).join('/')}`;
}

/** On a phone: the pages that the bottom bar has no room for. */
function More({ page }: { page: string }): JSX.Element {
  const close = (): void => void (isMoreShown.value = false);
  useKeys({ Escape: close }, 2);
  // Every click closes it, on one of its pages or beside it.
  useEffect(() => {
    addEventListener('click', close);
    return () => removeEventListener('click', close);
  }, []);
  return (
    <nav class="more" aria-label="More pages">
      {[...FIRST, ...SECOND]
        .filter((entry) => !TABS.some((tab) => tab.page === entry.page))
        .map((entry) => (
          <SideLink key={entry.page} entry={entry} page={page} />
        ))}
    </nav>
  );
}

function isHere(entry: Entry, page: string): boolean {
  return page === entry.page || page === entry.also;
}

function SideLink({ entry, page }: { entry: Entry; page: string }): JSX.Element {
  const value = entry.count?.() ?? 0;
  return (
    <a href={`#/${entry.page}`} aria-current={isHere(entry, page) ? 'page' : undefined} title={entry.name}>
      <Icon name={entry.icon} />
      <span class="nl">{entry.name}</span>
      {value > 0 && <span class={entry.page === 'inbox' ? 'n hot' : 'n'}>{value}</span>}
    </a>
  );
}

function Workers(): JSX.Element {
  const { processes } = hello.value!;
  return (
    <div class="foot">
      <a href="#/machines" class="plainlink">
        <Icon name="term" small />
        {processes === 0 ? 'No process works here' : `${plural(processes, 'process', 'processes')} working`}
      </a>
    </div>
  );
}

const KEYS: [page: string, keys: [key: string, what: string][]][] = [
  [
    'Everywhere',
    [
      ['j k', 'move'],
      ['Enter', 'open'],
      ['Esc', 'back'],
      [`/ or ${commandKey()} K`, 'search and commands'],
      ['c', 'new task'],
      ['?', 'keys'],
    ],
  ],
  [
    'Go to',
    [
      ['g h', 'Hall'],
      ['g i', 'Inbox'],
      ['g t', 'Tasks'],
      ['g w', 'Wait graph'],
      ['g c', 'Conversations'],
      ['g a', 'Agents'],
      ['g k', 'Costs'],
    ],
  ],
  [
    'Inbox',
    [
      ['y', 'approve'],
      ['n', 'reject with a reason'],
      ['e', 'edit, then approve'],
      ['a', 'always; shows the rule first'],
      ['s', 'skip'],
      ['1–9', 'choose an answer'],
    ],
  ],
  [
    'Task',
    [
      ['t', 'tell'],
      ['f', 'fork'],
      ['r', 'retry'],
      ['p', 'stop'],
      ['x', 'cancel'],
    ],
  ],
  [
    'Waterfall and replay',
    [
      ['+ - 0', 'zoom'],
      ['← →', 'pan'],
      ['[ ]', 'fold, unfold'],
      [', .', 'one event earlier, later'],
      ['Space', 'play'],
    ],
  ],
  [
    'Conversation',
    [
      ['e', 'edit the message'],
      ['f', 'fork from the message'],
      [SEND_KEY, 'save or send'],
    ],
  ],
];

function KeyList(): JSX.Element {
  return (
    <div class="over" role="dialog" aria-label="Keys" onClick={() => (isKeysShown.value = false)}>
      <div class="panel sheet">
        <header>
          <h2>Keys</h2>
          <span class="r">
            <kbd>Esc</kbd> closes
          </span>
        </header>
        <div class="keys">
          {KEYS.map(([page, keys]) => (
            <section key={page}>
              <h3>{page}</h3>
              {keys.map(([key, what]) => (
                <div key={key}>
                  <span>{what}</span>
                  <kbd>{key}</kbd>
                </div>
              ))}
            </section>
          ))}
        </div>
      </div>
    </div>
  );
}
