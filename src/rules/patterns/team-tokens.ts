/**
 * Compares the tokens that a team's rounds send with sending every member the whole discussion. A
 * token counts as four characters. Tokens of a member's conversation that the model reads again are
 * not included.
 */
import { roleFacts } from '../../domain/task/role.js';
import { childId } from '../../domain/task/id.js';
import { isEnded, type Placed, type Task } from '../../domain/task/task.js';
import { fenced, notesOf, type Note } from './team.js';

interface RoundTokens {
  round: number;
  sent: number;
  /** The cost if each member had been sent the request and the whole discussion so far. */
  whole: number;
}

/** The rounds of this task's team. `tasks` may contain other tasks. */
export function roundTokens(task: Task, tasks: readonly Placed[]): RoundTokens[] {
  const members = tasks.filter((placed) => placed.task.parent === task.id && roleFacts(placed.task.role).isMember);
  const rounds: RoundTokens[] = [];
  const before: Note[] = [];
  for (let round = 1; ; round++) {
    const seated = members.filter(({ task: { id, to } }) => id === childId(task.id, `member-${to}-${round}`));
    if (seated.length === 0) return rounds;
    const sent = seated.reduce((sum, placed) => sum + placed.task.description.length, 0);
    const first =
      members.find(({ task: { id, to } }) => id === childId(task.id, `member-${to}-1`))?.task.description ?? '';
    const discussed = before.reduce((sum, note) => sum + fenced(task, note).length + 2, 0);
    const whole = round === 1 ? sent : seated.length * (first.length + discussed);
    rounds.push({ round, sent: Math.ceil(sent / 4), whole: Math.ceil(whole / 4) });
    for (const placed of seated) if (isEnded(placed.state)) before.push(...notesOf(round, placed));
  }
}
