/**
 * What a team's rounds cost in words sent, against telling everybody everything each time. A member hears only what is new
 * to it, so what a round sends does not grow with the discussion. Tokens are counted at a quarter of the characters; what a
 * model reads again of its own conversation is not in here.
 */
import { roleFacts } from '../../domain/task/role.js';
import { childId } from '../../domain/task/id.js';
import { isEnded, type Placed, type Task } from '../../domain/task/task.js';
import { fenced, notesOf, type Note } from './team.js';

interface RoundTokens {
  round: number;
  sent: number;
  /** If every member had been sent the request and the whole discussion before it. */
  whole: number;
}

/** The rounds of this task's team; empty if it has none. `tasks` may hold others too. */
export function roundTokens(task: Task, tasks: readonly Placed[]): RoundTokens[] {
  const members = tasks.filter((one) => one.task.parent === task.id && roleFacts(one.task.role).isMember);
  const rounds: RoundTokens[] = [];
  const before: Note[] = [];
  for (let round = 1; ; round++) {
    const seated = members.filter(({ task: { id, to } }) => id === childId(task.id, `member-${to}-${round}`));
    if (seated.length === 0) return rounds;
    const sent = seated.reduce((sum, one) => sum + one.task.description.length, 0);
    const first =
      members.find(({ task: { id, to } }) => id === childId(task.id, `member-${to}-1`))?.task.description ?? '';
    const told = before.reduce((sum, note) => sum + fenced(task, note).length + 2, 0);
    const whole = round === 1 ? sent : seated.length * (first.length + told);
    rounds.push({ round, sent: Math.ceil(sent / 4), whole: Math.ceil(whole / 4) });
    for (const one of seated) if (isEnded(one.state)) before.push(...notesOf(round, one));
  }
}
