/**
 * Publishes a team's discussion on the channel `team/<task>`, one note per contribution. Ids are
 * derived from the content, so publishing after every round adds only the new ones.
 */
import type { Agent } from '../../domain/agent/agent.js';
import { hash53 } from '../../domain/task/id.js';
import { TEAM_CHANNELS } from '../../domain/coordination/note.js';
import type { Task } from '../../domain/task/task.js';
import type { Children } from '../../rules/patterns/gather.js';
import { teamStep } from '../../rules/patterns/team.js';
import { publishNotes } from '../core/notes.js';
import type { EngineContext } from '../core/context.js';

export async function showTranscript(
  context: EngineContext,
  task: Task,
  agent: Agent,
  children: Children,
): Promise<void> {
  if (agent.team === undefined) return;
  const { notes } = teamStep(task, agent, '', children);
  await publishNotes(
    context,
    notes.map(({ round, from, type, message }) => ({
      id: `team-${hash53(JSON.stringify([task.id, round, from, type, message]))}`,
      channel: TEAM_CHANNELS + task.id,
      from,
      task: task.id,
      body: { type: 'said', text: message, round, as: type },
    })),
  );
}
