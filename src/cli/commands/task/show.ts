/** `guild task show` and `guild task tree`. */
import { openShown } from '../../../app/approvals.js';
import { taskRecord } from '../../../app/readers/task-record.js';
import { taskNames } from '../../../app/readers/task-names.js';
import { taskTree } from '../../../app/readers/task-tree.js';
import { dependencyOf, dependencyStatus } from '../../../domain/coordination/dependency.js';
import { levelsOf } from '../../../domain/task/lineage.js';
import { certificateText } from '../../../domain/task/certificate.js';
import { ProblemError, problemText } from '../../../domain/problem.js';
import type { Placed } from '../../../domain/task/task.js';
import { moneyText, usageFields, type Usage } from '../../../domain/budget/usage.js';
import { summaryOrFailure } from '../../../views/summary.js';
import { roundTokens } from '../../../rules/patterns/team-tokens.js';
import { totals } from '../../../rules/budget/totals.js';
import { localDateTime } from '../../../views/local-time.js';
import { shortIds } from '../../../views/short-id.js';
import { stemsOf } from '../../../views/tree-lines.js';
import { toText, whoText } from '../../../views/who.js';
import { EXIT, type Call } from '../../args/command.js';
import { idOf, unknownTask } from './id.js';
import { mark } from './list.js';
import { columnsOf } from '../../render/columns.js';
import { fitted, oneLine, wrapped } from '../../render/layout.js';

export async function show(call: Call): Promise<number> {
  const { terminal, json } = call;
  const id = idOf(call, 'task show');
  const store = openShown(call.root, call.io.env);
  const placed = await store.tasks.read(id);
  if (placed === undefined) throw new ProblemError(unknownTask(id, call.root));
  const { task, state, owner } = placed;
  if (json) {
    terminal.json(taskRecord(placed));
    return EXIT.done;
  }
  const row = (name: string, value: string | undefined): void => {
    if (value) terminal.out(`${terminal.dim(name.padEnd(12))} ${value}`);
  };
  terminal.out(`${terminal.bold(task.id)}  ${mark(state, terminal)}`);
  row('description', task.description);
  row('agent', task.to && whoText(task.to));
  row('dependency', dependencyText(placed));
  row('parent', task.parent);
  row('depends on', task.dependencies.join(', '));
  row(
    'waits for',
    task.waits?.tasks?.join(', ') ?? task.waits?.file ?? (task.waits?.until && localDateTime(task.waits.until)),
  );
  row('held by', owner && `${owner.agent} in process ${owner.peer}`);
  row('session', task.session && `sessions/${task.session}.session.yaml`);
  row('created', localDateTime(task.created_at));
  row('ended', task.ended_at && localDateTime(task.ended_at));
  row('certified', task.certificate && certificateText(task.certificate));
  row('cost', task.usage && costText(task.usage));
  if (task.error) terminal.out(`\n${terminal.colour('red', 'failed')}: ${problemText(task.error)}`);
  if (task.result !== undefined) terminal.out(`\n${task.result}`);
  return EXIT.done;
}

function dependencyText(placed: Placed): string | undefined {
  const dependency = dependencyOf(placed.task);
  if (dependency === undefined) return undefined;
  const { type, urgency, deadline } = dependency;
  const more = [...(urgency === 'normal' ? [] : [urgency]), ...(deadline ? [`by ${localDateTime(deadline)}`] : [])];
  return [type, ...more, dependencyStatus(placed)].join(', ');
}

export async function tree(call: Call): Promise<number> {
  const { terminal, json } = call;
  const id = idOf(call, 'task tree');
  const all = await taskTree(openShown(call.root, call.io.env), id);
  if (all.length === 0) throw new ProblemError(unknownTask(id, call.root));
  if (json) terminal.json(nested(all));
  else
    for (const line of [...treeLines(all, call, taskNames(call.root)), ...roundLines(all, terminal.width)])
      terminal.out(line);
  return EXIT.done;
}

/** The tokens that each round of each team sent. */
function roundLines(all: Placed[], width: number): string[] {
  return all.flatMap(({ task }) =>
    roundTokens(task, all).flatMap(({ round, sent, whole }) => {
      const [few, many] = [sent, whole].map((count) => count.toLocaleString('en'));
      const line = `${task.id} round ${round}: ${few} tokens sent, ${many} if every member were sent everything`;
      return wrapped(line, width);
    }),
  );
}

/** `names`: the ids of all tasks. Ids in the tree are shortened as far as they stay unique. */
export function treeLines(
  all: Placed[],
  { terminal }: Pick<Call, 'terminal'>,
  names: readonly string[] = [],
): string[] {
  const levels = levelsOf(all.map(({ task }) => task));
  const stems = stemsOf(all.map(({ task }) => levels.get(task.id)!));
  const costs = totals(all);
  const ids = all.map(({ task }) => task.id);
  const short = shortIds(ids.slice(1), [...names, ...ids]);
  return all.flatMap(({ task, state }, i) => {
    const { first, rest } = stems[i]!;
    const id = short.get(task.id) ?? task.id;
    const role = i === 0 || id.split('.').at(-1)!.startsWith(task.role) ? '' : ` ${task.role}`;
    const about = `${role} ${toText(task.to)}`;
    const what = oneLine(summaryOrFailure(task), Infinity);
    const left = terminal.width - columnsOf(`${first}${state} ${id}${about}`) - 1;
    const { total } = costs.get(task.id)!;
    const cost = costBeside(total, left, Math.min(columnsOf(what), LEAST_GIST));
    const room = left - columnsOf(cost);
    const more = `${about}${room < 8 ? '' : ` ${oneLine(what, room)}`}${terminal.dim(cost)}`;
    const shown = terminal.bold(id);
    const below = cost === '' ? costBelow(total, terminal.width - columnsOf(rest)) : [];
    const under = below.map((line) => `${rest}${terminal.dim(line)}`);
    if (columnsOf(`${first}${state} ${id}`) + 2 <= terminal.width)
      return [fitted(`${first}${mark(state, terminal)} ${shown}${more}`, terminal.width), ...under];
    // Ids are never cut: a long one gets its own line, without a stem if both do not fit.
    const stem = columnsOf(`${rest}${id}`) <= terminal.width ? rest : '';
    return [fitted(`${first}${mark(state, terminal)}${more}`, terminal.width), `${stem}${shown}`, ...under];
  });
}

/** The minimum width of the description; the cost takes only the space beyond it. */
const LEAST_GIST = 16;

/** The cost next to the description: as much as fits, either all, its last part, or nothing. */
function costBeside(total: Usage, room: number, gist: number): string {
  if (total.turns === 0) return '';
  const all = `  ${costText(total)}`;
  const sum = `  ${costText(total).split(', ').at(-1)!}`;
  if (columnsOf(all) <= room - gist) return all;
  return columnsOf(sum) <= room + 1 ? sum : ''; // without the blank before the description
}

/** The cost on its own line, if there is no room next to the description. */
function costBelow(total: Usage, room: number): string[] {
  if (total.turns === 0) return [];
  const all = costText(total);
  return [columnsOf(all) <= room ? all : all.split(', ').at(-1)!];
}

/** The tree for programs: each node with its own cost and the total of its subtree. */
function nested(all: Placed[]): unknown {
  const costs = totals(all);
  const nodes = new Map(
    all.map(({ task: { usage: _, own_usage: __, ...task }, state }) => {
      const { own, total } = costs.get(task.id)!;
      return [task.id, { ...task, state, own: usageFields(own), total: usageFields(total), children: [] as unknown[] }];
    }),
  );
  for (const { task } of all.slice(1)) nodes.get(task.parent!)!.children.push(nodes.get(task.id));
  return nodes.get(all[0]!.task.id);
}

export function costText(usage: Usage): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  const money = usage.microUsd > 0 ? `, ${moneyText(usage.microUsd)}` : '';
  return `${usage.turns} ${usage.turns === 1 ? 'turn' : 'turns'}, ${tokens} tokens${money}`;
}
