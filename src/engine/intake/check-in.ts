/**
 * Planner check-ins. When the interval has passed and the work of other agents has changed since
 * the last check-in, the planner gets a task to review it. Unchanged work causes no second
 * check-in, so waiting for a person costs nothing. The first pass only records the time.
 */
import { CHECK_IN_SECONDS, type CheckInNote } from '../../domain/coordination/check-in.js';
import { defined } from '../../domain/defined.js';
import { hash53 } from '../../domain/task/id.js';
import { visible } from '../../domain/coordination/mail.js';
import { compareText } from '../../domain/order.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import { HUMAN, makeTask, type Task } from '../../domain/task/task.js';
import type { OpenTask } from '../../ports/store/tasks.js';
import { sessionId } from '../../domain/session/session-id.js';
import { resolveAssignee } from '../core/assignee.js';
import { record, type EngineContext } from '../core/context.js';

const REQUEST = 'Check-in with running agents to ensure progress';

interface CheckedIn {
  moved: boolean;
  problems: Problem[];
}

export async function checkIn(context: EngineContext): Promise<CheckedIn> {
  const { checkIns, config } = context;
  const planner = plannerOf(context);
  if (config.checkins === false || planner === undefined) return NOTHING;
  const read = checkIns.read();
  if (read.kind === 'held') return { moved: false, problems: read.problem ? [read.problem] : [] };
  if (read.kind === 'missing' && config.checkins !== true) return NOTHING;
  const note: CheckInNote = read.kind === 'note' ? read.note : { intervalSeconds: CHECK_IN_SECONDS, count: 0 };
  const now = context.clock.now();
  if (note.lastCheckin === undefined) {
    await checkIns.remember({ work: fingerprint(othersWork(context, planner)) });
    await checkIns.write({ ...note, lastCheckin: now.toISOString(), lastReason: 'baseline of the first pass' });
    return NOTHING;
  }
  const elapsed = now.getTime() - Date.parse(note.lastCheckin);
  if (elapsed < 0) {
    const why = `last_checkin was in the future (${note.lastCheckin}), so it counts as now`;
    await checkIns.write({ ...note, lastCheckin: now.toISOString(), lastReason: why });
    const hint = 'check the clock of this machine; the next check-in comes after one interval';
    return { moved: false, problems: [problem('bad_field', `storage/planner-checkin.yaml: ${why}`, { hint })] };
  }
  if (elapsed < note.intervalSeconds * 1000) return NOTHING;
  const work = othersWork(context, planner);
  if (work.length === 0 || !(await hasMoved(context, work))) return NOTHING;
  const reason = `${Math.floor(elapsed / 1000)}s since last check-in (threshold: ${note.intervalSeconds}s)`;
  return { moved: await ask(context, planner, { ...note, lastReason: reason }, work), problems: [] };
}

const NOTHING: CheckedIn = { moved: false, problems: [] };

function plannerOf({ config, agents }: EngineContext): string | undefined {
  const all = agents.all();
  const name = config.planner ?? 'planner';
  if (all.has(name)) return name;
  return config.planner === undefined ? [...all.values()].find((agent) => agent.type === 'planner')?.name : undefined;
}

/** Open tasks of other agents, without those that check-ins created. */
function othersWork(context: EngineContext, planner: string): OpenTask[] {
  const work: OpenTask[] = [];
  for (const open of context.tasks.open()) {
    const { task } = open;
    if (task.to === HUMAN || isCheckIn(task.root) || roleFacts(task.role).isSchedule) continue;
    const assignee = resolveAssignee(context, task);
    if ('agent' in assignee && assignee.agent !== planner) work.push(open);
  }
  return work.sort((a, b) => compareText(a.task.id, b.task.id));
}

function isCheckIn(id: string): boolean {
  return /^checkin-\d+$/.test(id);
}

function fingerprint(work: readonly OpenTask[]): string {
  return hash53(JSON.stringify(work.map(({ task, state }) => [task.id, state, task.attempts, task.usage?.turns ?? 0])));
}

/** Changes made by the last check-in do not count: its end sets the new baseline. */
async function hasMoved(context: EngineContext, work: readonly OpenTask[]): Promise<boolean> {
  const memory = context.checkIns.memory();
  if (memory?.task === undefined) return memory?.work !== fingerprint(work);
  if (!context.tasks.isOpen(memory.task)) await context.checkIns.remember({ work: fingerprint(work) });
  return false;
}

/** Creates the task, then the note. After a crash in between, only the note is written. */
async function ask(
  context: EngineContext,
  planner: string,
  note: CheckInNote,
  work: readonly OpenTask[],
): Promise<boolean> {
  let count = note.count + 1;
  let existing = await context.tasks.read(`checkin-${count}`);
  // Skips numbers used before the check-in file was removed.
  while (existing !== undefined && existing.task.created_at <= note.lastCheckin!)
    existing = await context.tasks.read(`checkin-${++count}`);
  const task = existing?.task ?? taskOf(context, planner, `checkin-${count}`, work);
  const created = existing === undefined && (await context.tasks.create(task));
  if (created) record(context, 'task.created', { task: task.id, agent: planner, cause: 'planner check-in' });
  await context.checkIns.remember({ work: fingerprint(work), task: task.id });
  const agent = context.agents.all().get(planner)!;
  const plannerSession = `${sessionId(task, agent)}.session.yaml`;
  await context.checkIns.write({ ...note, lastCheckin: task.created_at, plannerSession, count });
  return created;
}

function taskOf(context: EngineContext, planner: string, id: string, work: readonly OpenTask[]): Task {
  const taint = new Set(
    work.flatMap(({ task }) => (Array.isArray(task.context['taint']) ? task.context['taint'] : [])),
  );
  return makeTask({
    id,
    type: 'check-in',
    description: `${REQUEST}\n\n${table(context, work)}\n\n${GUIDE}`,
    to: planner,
    from: 'guildhall',
    created_by: 'guildhall',
    created_at: context.clock.now().toISOString(),
    context: defined({ original_goal: REQUEST, taint: taint.size > 0 ? [...taint] : undefined }),
  });
}

const GUIDE =
  'These conversations are under way; you need not do their work. Look at the ones that take many turns or wait long: read_session shows one. If an agent is stuck or on a wrong path, send it one short hint with send_message. Do not delegate the same work again. If all is well, say so in a sentence.';

const MAX_SHOWN = 30;

function table(context: EngineContext, work: readonly OpenTask[]): string {
  const rows = work.slice(0, MAX_SHOWN).map(({ task, state }) => {
    const assignee = resolveAssignee(context, task);
    const agent = 'agent' in assignee ? assignee.agent : 'nobody';
    const about = visible(task.description.split('\n')[0]!).replaceAll('|', '/').slice(0, 80);
    return `| ${sessionId(task, { name: agent })} | ${agent} | ${task.id} | ${state} | ${task.usage?.turns ?? 0} | ${about} |`;
  });
  const more = work.length > rows.length ? [`… and ${work.length - rows.length} more`] : [];
  return ['| session | agent | task | state | turns | about |', '|---|---|---|---|---|---|', ...rows, ...more].join(
    '\n',
  );
}
