/** The discussion of a team for people to read, `bus/team/<task>.jsonl`: one line for each thing said, made anew after each round. */
import type { Agent } from '../domain/agent.js';
import type { Task } from '../domain/task.js';
import type { Children } from '../rules/gather.js';
import { teamStep } from '../rules/team.js';
import type { Parts } from './parts.js';

export function showTranscript(parts: Parts, task: Task, agent: Agent, children: Children): void {
  if (agent.team === undefined) return;
  const { notes } = teamStep(task, agent, '', children);
  if (notes.length === 0) return;
  const lines = notes.map((note) => `${JSON.stringify(note)}\n`);
  parts.store.showFile(`bus/team/${task.id}.jsonl`, lines.join(''));
}
