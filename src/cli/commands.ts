/** Every command with its one-line summary. Only the command that runs is loaded. */
import type { Command } from './args/command.js';

export interface Listed {
  name: string;
  summary: string;
  load(): Promise<{ command: Command }>;
}

export const COMMANDS: readonly Listed[] = [
  {
    name: 'init',
    summary: 'create a workspace with a set of agents',
    load: () => import('./commands/init.js'),
  },
  { name: 'run', summary: 'give an agent a task and print its answer', load: () => import('./commands/run/index.js') },
  { name: 'chat', summary: 'talk with an agent', load: () => import('./commands/chat/index.js') },
  {
    name: 'task',
    summary: 'add, list, show, cancel, stop, retry, assign and message tasks',
    load: () => import('./commands/task/index.js'),
  },
  {
    name: 'schedule',
    summary: 'list what runs when, and try a schedule',
    load: () => import('./commands/schedule/index.js'),
  },
  { name: 'pump', summary: 'run one pass, then stop', load: () => import('./commands/pump.js') },
  { name: 'watch', summary: 'work until you stop it', load: () => import('./commands/watch.js') },
  {
    name: 'inbox',
    summary: 'go through everything that waits for you',
    load: () => import('./commands/approve/inbox.js'),
  },
  {
    name: 'approve',
    summary: 'list requests that wait for you, and allow them',
    load: () => import('./commands/approve/index.js'),
  },
  { name: 'reject', summary: "refuse an agent's request", load: () => import('./commands/approve/reject.js') },
  {
    name: 'edit',
    summary: 'allow a changed version of a request',
    load: () => import('./commands/approve/edit.js'),
  },
  { name: 'answer', summary: "answer an agent's question", load: () => import('./commands/approve/answer.js') },
  {
    name: 'trust',
    summary: 'show what a workspace wants to do, and let it act',
    load: () => import('./commands/trust/index.js'),
  },
  {
    name: 'agent',
    summary: 'list, start, pause, resume and create agents',
    load: () => import('./commands/agent/index.js'),
  },
  {
    name: 'check',
    summary: 'check agents and configuration for mistakes',
    load: () => import('./commands/check.js'),
  },
  {
    name: 'why',
    summary: 'explain why a task is in its state',
    load: () => import('./commands/why/index.js'),
  },
  { name: 'cost', summary: 'sum up cost by agent, task, model, role or day', load: () => import('./commands/cost.js') },
  { name: 'log', summary: 'list the commits of the workspace', load: () => import('./commands/log.js') },
  { name: 'undo', summary: 'restore files and tasks from a commit', load: () => import('./commands/undo.js') },
  {
    name: 'record',
    summary: 'run a command and record it on a cassette',
    load: () => import('./commands/replay/record.js'),
  },
  {
    name: 'replay',
    summary: 'repeat a recorded run without a model',
    load: () => import('./commands/replay/replay.js'),
  },
  { name: 'prompt', summary: 'print what a model would get', load: () => import('./commands/prompt.js') },
  { name: 'fork', summary: 'continue a copy of a conversation', load: () => import('./commands/fork.js') },
  { name: 'state', summary: 'show what each agent does and what waits', load: () => import('./commands/state.js') },
  {
    name: 'graph',
    summary: 'draw a task, the tasks under it, and their waits',
    load: () => import('./commands/graph.js'),
  },
  { name: 'top', summary: 'show the whole workspace on one screen', load: () => import('./commands/top/index.js') },
  {
    name: 'query',
    summary: 'query boards, tasks, sessions, agents and events',
    load: () => import('./commands/query.js'),
  },
  { name: 'lint', summary: 'check boards for mistakes', load: () => import('./commands/lint.js') },
  { name: 'notes', summary: 'list channels and their notes', load: () => import('./commands/notes.js') },
  { name: 'tell', summary: 'post a note on a channel', load: () => import('./commands/tell.js') },
  { name: 'mail', summary: 'add a message from outside, or list them', load: () => import('./commands/mail.js') },
  {
    name: 'policy',
    summary: 'show the policy verdict on a command or a path',
    load: () => import('./commands/policy/index.js'),
  },
  { name: 'mcp', summary: 'list MCP servers, and log in to one', load: () => import('./commands/mcp.js') },
  {
    name: 'doctor',
    summary: 'check this machine and this folder',
    load: () => import('./commands/doctor.js'),
  },
  {
    name: 'store',
    summary: 'keep the workspace in PostgreSQL, for several machines',
    load: () => import('./commands/store/index.js'),
  },
  {
    name: 'publish',
    summary: 'make every machine use the definitions of this folder',
    load: () => import('./commands/store/publish.js'),
  },
  {
    name: 'sync',
    summary: 'show a workspace on several machines as a folder',
    load: () => import('./commands/store/sync.js'),
  },
  { name: 'ui', summary: 'show the workspace in a browser', load: () => import('./commands/ui/index.js') },
  { name: 'serve', summary: 'receive webhooks from other programs', load: () => import('./commands/ui/serve.js') },
  { name: 'export', summary: 'write a run into one HTML file', load: () => import('./commands/ui/export.js') },
  {
    name: 'eval',
    summary: 'run cases to see which model is good enough',
    load: () => import('./commands/eval/index.js'),
  },
  {
    name: 'model-server',
    summary: 'serve a model script as an OpenAI-compatible API',
    load: () => import('./commands/model-server.js'),
  },
  {
    name: 'completion',
    summary: 'print shell completion for bash, zsh or fish',
    load: () => import('./commands/completion.js'),
  },
  {
    name: 'demo',
    summary: 'play a story offline; you decide twice',
    load: () => import('./commands/demo/index.js'),
  },
];
