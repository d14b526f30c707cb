/** Folds the steps of dead journals into what they hold for each task, conversation and file. */
import type { DeadJournal } from './dead-journals.js';
import { isEndPut, keyOfAdd, keyOfPut, type EffectPut, type PagePut, type SessionAdd, type TaskPut } from './step.js';

interface Held {
  /** The file was in place, and this machine has not restarted since: others changed it later. */
  isSettled: boolean;
}

export interface HeldTask extends Held {
  id: string;
  /** The process that held the task last. */
  peer: string;
  last: TaskPut;
  /** Every record that a dead process wrote for it. */
  texts: string[];
  /** Contents that dead processes claimed. */
  bases: string[];
}

export interface HeldPage extends Held, PagePut {
  /** Every page that the dead process wrote for the task. */
  texts: string[];
}
export interface HeldEffect extends Held, EffectPut {}
export interface HeldSession extends Held {
  id: string;
  chunks: SessionAdd[];
}

export interface Folded {
  tasks: HeldTask[];
  pages: HeldPage[];
  effects: HeldEffect[];
  sessions: HeldSession[];
  /** Lines of the event log, by day. */
  events: Map<string, string[]>;
}

interface Found {
  puts: (TaskPut | PagePut | EffectPut)[];
  adds: SessionAdd[];
  isPlaced: boolean;
}

/** `owners`: the peers that hold claims on the disk, by task. */
export function fold(journals: readonly DeadJournal[], owners: ReadonlyMap<string, string>): Folded {
  const tasks = new Map<string, HeldTask>();
  const folded: Folded = { tasks: [], pages: [], effects: [], sessions: [], events: new Map() };
  for (const { peer, steps, isThisBoot } of journals) {
    for (const { puts, adds, isPlaced } of changesOf(steps, folded.events).values()) {
      const isSettled = isPlaced && isThisBoot;
      const last = puts.at(-1);
      if (last === undefined) {
        if (adds.length > 0) folded.sessions.push({ id: adds[0]!.session, chunks: adds, isSettled });
      } else if ('page' in last) {
        folded.pages.push({ ...last, texts: puts.map((put) => put.text!), isSettled });
      } else if ('effect' in last) folded.effects.push({ ...last, isSettled });
      else addTask(tasks, held(peer, puts as TaskPut[], isSettled), owners.get(last.task));
    }
  }
  return { ...folded, tasks: [...tasks.values()] };
}

function held(peer: string, puts: readonly TaskPut[], isSettled: boolean): HeldTask {
  const last = puts.at(-1)!;
  return {
    id: last.task,
    peer,
    last,
    texts: puts.flatMap(({ text }) => text ?? []),
    bases: puts.flatMap(({ base }) => base ?? []),
    isSettled,
  };
}

/** Two dead processes had the task one after the other: an end wins, then the later owner. */
function addTask(tasks: Map<string, HeldTask>, task: HeldTask, owner: string | undefined): void {
  const other = tasks.get(task.id);
  if (other === undefined) return void tasks.set(task.id, task);
  const isFirst = isEndPut(other.last) || (!isEndPut(task.last) && owner === other.peer);
  const [winner, loser] = isFirst ? [other, task] : [task, other];
  tasks.set(task.id, {
    ...winner,
    texts: [...loser.texts, ...winner.texts],
    bases: [...loser.bases, ...winner.bases],
  });
}

function changesOf(steps: DeadJournal['steps'], events: Folded['events']): Map<string, Found> {
  const found = new Map<string, Found>();
  const at = (key: string): Found => {
    let changes = found.get(key);
    if (changes === undefined) found.set(key, (changes = { puts: [], adds: [], isPlaced: false }));
    changes.isPlaced = false;
    return changes;
  };
  const waiting = new Map<string, string[]>();
  for (const { dropped = [], puts = [], adds = [], placed = [] } of steps) {
    for (const key of dropped) found.delete(key);
    for (const put of puts) at(keyOfPut(put)).puts.push(put);
    for (const add of adds) {
      if ('session' in add) at(keyOfAdd(add)).adds.push(add);
      else waiting.set(add.day, [...(waiting.get(add.day) ?? []), ...add.text.split('\n').filter(Boolean)]);
    }
    for (const key of placed) if (found.has(key)) found.get(key)!.isPlaced = true;
  }
  for (const [day, lines] of waiting) events.set(day, [...(events.get(day) ?? []), ...lines]);
  return found;
}
