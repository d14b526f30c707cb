/** The discussion of a team on its channel, `team/<task>`: a note for each thing said. Each is known by what it says, so telling it after every round tells it once. */
import type { Agent } from '../domain/agent.js';
import { hash53 } from '../domain/id.js';
import { TEAM_CHANNELS } from '../domain/note.js';
import type { Task } from '../domain/task.js';
import type { Children } from '../rules/gather.js';
import { teamStep } from '../rules/team.js';
import { tellMany } from './notes.js';
import type { Parts } from './parts.js';

export async function showTranscript(parts: Parts, task: Task, agent: Agent, children: Children): Promise<void> {
  if (agent.team === undefined) return;
  const { notes } = teamStep(task, agent, '', children);
  await tellMany(
    parts,
    notes.map(({ round, from, type, message }) => ({
      id: `team-${hash53(JSON.stringify([task.id, round, from, type, message]))}`,
      channel: TEAM_CHANNELS + task.id,
      from,
      task: task.id,
      body: { type: 'said', text: message, round, as: type },
    })),
  );
}
