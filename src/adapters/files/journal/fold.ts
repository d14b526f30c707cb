/** Folds the steps of dead journals into one state for each task, conversation and file. */
import type { DeadJournal } from './dead-journals.js';
import {
  eventsKey,
  isEndPut,
  keyOfAdd,
  keyOfPut,
  type EffectPut,
  type PagePut,
  type SessionAdd,
  type TaskPut,
} from './step.js';

interface Held {
  /** The file was in place in this boot of the machine, so any difference is a later change. */
  isSettled: boolean;
}

export interface HeldTask extends Held {
  id: string;
  peer: string;
  last: TaskPut;
  agent: string;
  /** Every record that a dead process wrote for it. */
  texts: string[];
  /** The records that dead processes had claimed, before their own changes. */
  bases: string[];
  /** This machine has not restarted since, so another process's claim is newer. */
  isThisBoot: boolean;
}

export interface HeldPage extends Held, PagePut {
  /** Every text that a dead process wrote under this name. */
  texts: string[];
}
export interface HeldEffect extends Held, EffectPut {}
export interface HeldSession extends Held {
  id: string;
  /** The process that wrote to it last. */
  peer: string;
  chunks: SessionAdd[];
}

interface Folded {
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
  /** How many of the `adds` are in the file. */
  addsPlaced: number;
}

/** `owners`: the peers that hold claims on the disk, by task. */
export function fold(journals: readonly DeadJournal[], owners: ReadonlyMap<string, string>): Folded {
  const tasks = new Map<string, HeldTask>();
  const sessions = new Map<string, HeldSession>();
  const folded: Folded = { tasks: [], pages: [], effects: [], sessions: [], events: new Map() };
  for (const { peer, steps, isThisBoot } of journals) {
    for (const { puts, adds, isPlaced, addsPlaced } of changesOf(steps, isThisBoot, folded.events).values()) {
      const isSettled = isPlaced && isThisBoot;
      const last = puts.at(-1);
      // Messages that reached the file in this boot and are missing now were removed by a person.
      if (last === undefined) addSession(sessions, peer, adds, isThisBoot ? addsPlaced : 0);
      else if ('page' in last)
        folded.pages.push({ ...last, texts: (puts as PagePut[]).map(({ text }) => text), isSettled });
      else if ('effect' in last) folded.effects.push({ ...last, isSettled });
      else addTask(tasks, { ...held(peer, puts as TaskPut[], isSettled), isThisBoot }, owners.get(last.task));
    }
  }
  return { ...folded, tasks: [...tasks.values()], sessions: [...sessions.values()] };
}

/** Several dead processes may have written to one conversation, each after the other. */
function addSession(
  sessions: Map<string, HeldSession>,
  peer: string,
  adds: readonly SessionAdd[],
  placed: number,
): void {
  if (adds.length === 0) return;
  const id = adds[0]!.session;
  const other = sessions.get(id);
  const before = other?.chunks ?? [];
  const after = adds.slice(placed);
  const isLater = (before[0]?.at ?? 0) <= (after[0]?.at ?? Infinity);
  const chunks = isLater ? [...before, ...after] : [...after, ...before];
  sessions.set(id, { id, peer: isLater ? peer : other!.peer, chunks, isSettled: chunks.length === 0 });
}

function held(peer: string, puts: readonly TaskPut[], isSettled: boolean): Omit<HeldTask, 'isThisBoot'> {
  const last = puts.at(-1)!;
  return {
    id: last.task,
    peer,
    last,
    agent: puts.findLast(({ agent }) => agent !== undefined)?.agent ?? 'nobody',
    texts: puts.flatMap(({ text }) => text ?? []),
    bases: puts.flatMap(({ base }) => base ?? []),
    isSettled,
  };
}

/**
 * Two dead processes had the task one after the other: the one after the last retry wins, then an
 * end, then the later owner.
 */
function addTask(tasks: Map<string, HeldTask>, task: HeldTask, owner: string | undefined): void {
  const other = tasks.get(task.id);
  if (other === undefined) return void tasks.set(task.id, task);
  const later = retriesOf(other) - retriesOf(task);
  const isFirst = later === 0 ? isEndPut(other.last) || (!isEndPut(task.last) && owner === other.peer) : later > 0;
  const [winner, loser] = isFirst ? [other, task] : [task, other];
  tasks.set(task.id, {
    ...winner,
    texts: [...loser.texts, ...winner.texts],
    bases: [...loser.bases, ...winner.bases],
  });
}

function retriesOf({ texts }: HeldTask): number {
  return Math.max(0, ...texts.map((text) => (JSON.parse(text) as { retries?: number }).retries ?? 0));
}

function changesOf(steps: DeadJournal['steps'], isThisBoot: boolean, events: Folded['events']): Map<string, Found> {
  const found = new Map<string, Found>();
  const at = (key: string): Found => {
    let changes = found.get(key);
    if (changes === undefined) found.set(key, (changes = { puts: [], adds: [], isPlaced: false, addsPlaced: 0 }));
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
    for (const key of placed) {
      const changes = found.get(key);
      if (changes !== undefined) Object.assign(changes, { isPlaced: true, addsPlaced: changes.adds.length });
      // A person may have deleted lines that were in the log.
      else if (isThisBoot) for (const day of waiting.keys()) if (key === eventsKey(day)) waiting.set(day, []);
    }
  }
  for (const [day, lines] of waiting) events.set(day, [...(events.get(day) ?? []), ...lines]);
  return found;
}
