/** Every command: its name, a line on what it is for, and where its code is. Only the one that runs is loaded. */
import type { Command } from './args/command.js';

export interface Listed {
  name: string;
  summary: string;
  load(): Promise<{ command: Command }>;
}

export const COMMANDS: readonly Listed[] = [
  {
    name: 'init',
    summary: 'make a workspace with a set of agents to start with',
    load: () => import('./commands/init.js'),
  },
  { name: 'run', summary: 'give an agent a task and see its answer', load: () => import('./commands/run.js') },
  {
    name: 'task',
    summary: 'add, list, show, tree, cancel, stop, retry, tell',
    load: () => import('./commands/task/index.js'),
  },
  { name: 'pump', summary: 'one pass: do what can be done now, then stop', load: () => import('./commands/pump.js') },
  { name: 'watch', summary: 'keep working until you stop it', load: () => import('./commands/watch.js') },
  {
    name: 'approve',
    summary: 'see what waits for you, and allow it',
    load: () => import('./commands/approve/index.js'),
  },
  { name: 'reject', summary: 'refuse what an agent asked for', load: () => import('./commands/approve/reject.js') },
  {
    name: 'edit',
    summary: 'allow what you write instead of what was asked for',
    load: () => import('./commands/approve/edit.js'),
  },
  {
    name: 'agent',
    summary: 'list, start, pause and resume agents, write a new one',
    load: () => import('./commands/agent/index.js'),
  },
  {
    name: 'check',
    summary: 'look for mistakes in agents and configuration',
    load: () => import('./commands/check.js'),
  },
  {
    name: 'why',
    summary: 'why a task is where it is, and how it got there',
    load: () => import('./commands/why/index.js'),
  },
  { name: 'cost', summary: 'what was spent: by agent, task, model or day', load: () => import('./commands/cost.js') },
  { name: 'log', summary: 'what happened here, commit by commit', load: () => import('./commands/log.js') },
  { name: 'undo', summary: 'bring files and tasks back to a commit', load: () => import('./commands/undo.js') },
  { name: 'record', summary: 'keep a whole run on a cassette', load: () => import('./commands/replay/record.js') },
  {
    name: 'replay',
    summary: 'play a cassette again, without a model',
    load: () => import('./commands/replay/replay.js'),
  },
  { name: 'fork', summary: 'let a conversation go on another way', load: () => import('./commands/fork.js') },
  { name: 'state', summary: 'who is doing what, and what waits', load: () => import('./commands/state.js') },
  {
    name: 'graph',
    summary: 'a task and all under it, with who waits for whom',
    load: () => import('./commands/graph.js'),
  },
  { name: 'top', summary: 'the whole workspace on one screen, live', load: () => import('./commands/top/index.js') },
  {
    name: 'query',
    summary: 'ask boards, tasks, sessions, agents and events',
    load: () => import('./commands/query.js'),
  },
  { name: 'lint', summary: 'look for mistakes in a board', load: () => import('./commands/lint.js') },
  { name: 'notes', summary: 'what was told on which channel', load: () => import('./commands/notes.js') },
  { name: 'tell', summary: 'say something on a channel', load: () => import('./commands/tell.js') },
  { name: 'inbox', summary: 'put a message into the inbox, list what came', load: () => import('./commands/inbox.js') },
  {
    name: 'policy',
    summary: 'what the gates say to a command or a path',
    load: () => import('./commands/policy/index.js'),
  },
  {
    name: 'doctor',
    summary: 'is this machine and this folder fit for work',
    load: () => import('./commands/doctor.js'),
  },
  {
    name: 'model-server',
    summary: 'play a model script as an OpenAI-compatible server',
    load: () => import('./commands/model-server.js'),
  },
  {
    name: 'demo',
    summary: 'a day in an office, played offline; you are asked twice',
    load: () => import('./commands/demo/index.js'),
  },
];
