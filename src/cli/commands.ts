/** Every command: its name, a line on what it is for, and where its code is. Only the one that runs is loaded. */
import type { Command } from './command.js';

export interface Listed {
  name: string;
  summary: string;
  load(): Promise<{ command: Command }>;
}

export const COMMANDS: readonly Listed[] = [
  { name: 'init', summary: 'make a workspace with a set of agents to start with', load: () => import('./init.js') },
  { name: 'run', summary: 'give an agent a task and see its answer', load: () => import('./run.js') },
  { name: 'task', summary: 'add, list, show, tree, cancel, stop, retry, tell', load: () => import('./task.js') },
  { name: 'pump', summary: 'one pass: do what can be done now, then stop', load: () => import('./pump.js') },
  { name: 'watch', summary: 'keep working until you stop it', load: () => import('./watch.js') },
  { name: 'approve', summary: 'see what waits for you, and allow it', load: () => import('./approve.js') },
  { name: 'reject', summary: 'refuse what an agent asked for', load: () => import('./reject.js') },
  { name: 'edit', summary: 'allow what you write instead of what was asked for', load: () => import('./edit.js') },
  { name: 'agent', summary: 'list, start, pause and resume agents, write a new one', load: () => import('./agent.js') },
  { name: 'check', summary: 'look for mistakes in agents and configuration', load: () => import('./check.js') },
  { name: 'why', summary: 'why a task is where it is, and how it got there', load: () => import('./why.js') },
  { name: 'cost', summary: 'what was spent: by agent, task, model or day', load: () => import('./cost.js') },
  { name: 'log', summary: 'what happened here, commit by commit', load: () => import('./log.js') },
  { name: 'undo', summary: 'bring files and tasks back to a commit', load: () => import('./undo.js') },
  { name: 'record', summary: 'keep a whole run on a cassette', load: () => import('./record.js') },
  { name: 'replay', summary: 'play a cassette again, without a model', load: () => import('./replay.js') },
  { name: 'fork', summary: 'let a conversation go on another way', load: () => import('./fork.js') },
  { name: 'state', summary: 'who is doing what, and what waits', load: () => import('./state.js') },
  { name: 'graph', summary: 'a task and all under it, with who waits for whom', load: () => import('./graph.js') },
  { name: 'top', summary: 'the whole workspace on one screen, live', load: () => import('./top.js') },
  {
    name: 'query',
    summary: 'ask boards, tasks, sessions, agents and events',
    load: () => import('./query.js'),
  },
  { name: 'lint', summary: 'look for mistakes in a board', load: () => import('./lint.js') },
  { name: 'notes', summary: 'what was told on which channel', load: () => import('./notes.js') },
  { name: 'tell', summary: 'say something on a channel', load: () => import('./tell.js') },
  { name: 'inbox', summary: 'put a message into the inbox, list what came', load: () => import('./inbox.js') },
  { name: 'policy', summary: 'what the gates say to a command or a path', load: () => import('./policy.js') },
  { name: 'doctor', summary: 'is this machine and this folder fit for work', load: () => import('./doctor.js') },
  {
    name: 'model-server',
    summary: 'play a model script as an OpenAI-compatible server',
    load: () => import('./model-server.js'),
  },
  { name: 'demo', summary: 'a day in an office, played offline; you are asked twice', load: () => import('./demo.js') },
];
