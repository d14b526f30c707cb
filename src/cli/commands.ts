/** Every command with its one-line summary. Only the command that runs is loaded. */
import type { Command } from './args/command.js';

export interface Listed {
  name: string;
  summary: string;
  load(): Promise<{ command: Command }>;
}

type Row = [name: string, summary: string, load: Listed['load']];

/** The commands that answer a request share a file with `guild approve`. */
const answering = (name: 'reject' | 'edit' | 'answer') => async (): Promise<{ command: Command }> => ({
  command: (await import('./commands/approve/index.js'))[name],
});

/** By what people want to do, in the order of the help text. */
const TABLE: Readonly<Record<string, readonly Row[]>> = {
  Start: [
    ['init', 'create a workspace with a set of agents', () => import('./commands/init.js')],
    ['run', 'give an agent a task and print its answer', () => import('./commands/run/index.js')],
    ['chat', 'talk with an agent', () => import('./commands/chat/index.js')],
    ['watch', 'work until you stop it', () => import('./commands/watch.js')],
    ['pump', 'run one pass, then stop', () => import('./commands/pump.js')],
    ['ui', 'show the workspace in a browser', () => import('./commands/ui/index.js')],
    ['demo', 'play a story offline; you decide twice', () => import('./commands/demo/index.js')],
  ],
  'Tasks and agents': [
    [
      'task',
      'add, list, show, cancel, stop, retry, assign and message tasks',
      () => import('./commands/task/index.js'),
    ],
    ['schedule', 'list what runs when, and try a schedule', () => import('./commands/schedule/index.js')],
    ['agent', 'list, start, pause, resume and create agents', () => import('./commands/agent/index.js')],
    ['tell', 'post a note on a channel', () => import('./commands/tell.js')],
    ['mail', 'add a message from outside, or list them', () => import('./commands/mail.js')],
  ],
  Decide: [
    ['inbox', 'go through everything that waits for you', () => import('./commands/approve/inbox.js')],
    ['approve', 'list requests that wait for you, and allow them', () => import('./commands/approve/index.js')],
    ['reject', "refuse an agent's request", answering('reject')],
    ['edit', 'allow a changed version of a request', answering('edit')],
    ['answer', "answer an agent's question", answering('answer')],
    ['trust', 'show what a workspace wants to do, and let it act', () => import('./commands/trust/index.js')],
  ],
  Look: [
    ['state', 'show what each agent does and what waits', () => import('./commands/state.js')],
    ['top', 'show the whole workspace on one screen', () => import('./commands/top/index.js')],
    ['why', 'explain why a task is in its state', () => import('./commands/why/index.js')],
    ['cost', 'sum up cost by agent, task, model, role or day', () => import('./commands/cost.js')],
    ['graph', 'draw a task, the tasks under it, and their waits', () => import('./commands/graph.js')],
    ['log', 'list the commits of the workspace', () => import('./commands/log.js')],
    ['notes', 'list channels and their notes', () => import('./commands/notes.js')],
    ['query', 'query boards, tasks, sessions, agents and events', () => import('./commands/query.js')],
    ['prompt', 'print what a model would get', () => import('./commands/prompt.js')],
    ['export', 'write a run into one HTML file', () => import('./commands/ui/export.js')],
  ],
  'Go back and repeat': [
    ['undo', 'restore files and tasks from a commit', () => import('./commands/undo.js')],
    ['fork', 'continue a copy of a conversation', () => import('./commands/fork.js')],
    ['record', 'run a command and record it on a cassette', () => import('./commands/replay/record.js')],
    ['replay', 'repeat a recorded run without a model', () => import('./commands/replay/replay.js')],
    ['eval', 'run cases to see which model is good enough', () => import('./commands/eval/index.js')],
  ],
  Check: [
    ['check', 'check agents and configuration for mistakes', () => import('./commands/check.js')],
    ['lint', 'check boards for mistakes', () => import('./commands/lint.js')],
    ['policy', 'show the policy verdict on a command or a path', () => import('./commands/policy/index.js')],
    ['doctor', 'check this machine and this folder', () => import('./commands/doctor.js')],
  ],
  Connect: [
    ['serve', 'receive webhooks from other programs', () => import('./commands/ui/serve.js')],
    ['mcp', 'list MCP servers, and log in to one', () => import('./commands/mcp.js')],
    ['store', 'keep the workspace in PostgreSQL, for several machines', () => import('./commands/store/index.js')],
    ['publish', 'make every machine use the definitions of this folder', () => import('./commands/store/publish.js')],
    ['sync', 'show a workspace on several machines as a folder', () => import('./commands/store/sync.js')],
    ['model-server', 'serve a model script as an OpenAI-compatible API', () => import('./commands/model-server.js')],
    ['completion', 'print shell completion for bash, zsh or fish', () => import('./commands/completion.js')],
  ],
};

export const GROUPS: readonly { title: string; commands: readonly Listed[] }[] = Object.entries(TABLE).map(
  ([title, rows]) => ({ title, commands: rows.map(([name, summary, load]) => ({ name, summary, load })) }),
);

export const COMMANDS: readonly Listed[] = GROUPS.flatMap(({ commands }) => commands);
