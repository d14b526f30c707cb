/**
 * The workspace as tables for queries, read from the files at each query, without an engine or a
 * model. The command line reads ended tasks and events through the index.
 */
import path from 'node:path';
import { disk as realDisk } from '../../adapters/disk/index.js';
import type { FarStore } from '../../adapters/far/index.js';
import type { Agent } from '../../domain/agent/agent.js';
import { defined } from '../../domain/defined.js';
import { ENDED_STATES, type Placed } from '../../domain/task/task.js';
import type { Store } from '../../ports/store/index.js';
import type { EndedTasks } from '../../ports/aggregates/task-index.js';
import { joinedTables, tableOf, type Table } from '../../text/query/query.js';
import { isRequest, type InOwnWords } from '../../views/own-words.js';
import { stateColumns, taskRow } from '../../text/records/task-row.js';
import { mayBeShared } from '../far/may-be-shared.js';
import type { Progress } from './aggregates/open-index.js';
import { openLook } from './open-look.js';

import type { Row, Sources, WantedTasks } from '../../adapters/boards/queries.js';

export interface CommandSources extends Sources {
  /**
   * The matching tasks of a shared store, which are read in pages each time. Undefined: the work is
   * in this folder, and the index has the rows.
   */
  inPages(wanted: WantedTasks): Promise<(() => AsyncIterable<Row>) | undefined>;
}

export function querySources(
  root: string,
  words: (isFar: boolean) => InOwnWords,
  onProgress?: Progress,
): CommandSources {
  /** Loaded when needed: a short query would spend most of its time on loading modules. */
  const shared = async (): Promise<FarStore | undefined> => {
    const disk = realDisk();
    if (!mayBeShared(disk, path.resolve(root))) return undefined;
    return (await import('./open-reader.js')).openFarReader(disk, path.resolve(root));
  };
  return {
    async tasks(wanted) {
      const look = openLook(root);
      const store = await shared();
      if (store !== undefined) return readAll(store, (sources) => sources.tasks(wanted), words(true));
      const { problems } = await look.scan(true);
      if (problems.length > 0) {
        const { openReader, recordQuarantined } = await import('./open-reader.js');
        await recordQuarantined(openReader(root), problems);
      }
      const shown = words(false);
      const open = tableOf([...look.open()].map((placed) => taskRow(shown(placed))));
      if (wanted?.states.length === 0) return open;
      const { openTaskIndex } = await import('./aggregates/open-index.js');
      return joinedTables(open, endedTable(openTaskIndex(root, onProgress).look(), shown));
    },
    async inPages(wanted) {
      const isThere = await shared();
      await isThere?.close();
      if (isThere === undefined) return undefined;
      return async function* () {
        const store = (await shared())!;
        try {
          yield* matching(store, wanted, words(true));
        } finally {
          await store.close();
        }
      };
    },
    async events() {
      openLook(root); // throws if there is no workspace
      const { openEventIndex, openLogCopy } = await import('./aggregates/open-index.js');
      const store = await shared();
      if (store === undefined) return openEventIndex(root, onProgress).look();
      try {
        return (await openLogCopy(root, store.far.ledger, onProgress)).seen;
      } finally {
        await store.close();
      }
    },
    async sessions() {
      const { openReader } = await import('./open-reader.js');
      return readAll(openReader(root), (sources) => sources.sessions());
    },
    async agents() {
      const { openRoster } = await import('./open-roster.js');
      return agentTable(openRoster(root).agents.values());
    },
  };
}

async function* matching(
  { tasks, far }: FarStore,
  { states, keep }: WantedTasks,
  shown: InOwnWords,
): AsyncIterable<Row> {
  await tasks.scan(true);
  for (const placed of tasks.open()) {
    const row = keep(taskRow(shown(placed)));
    if (row !== undefined) yield row;
  }
  for await (const placed of far.endedInPages(states)) {
    const row = keep(taskRow(shown(placed)));
    if (row !== undefined) yield row;
  }
}

/** Reads a whole table and closes the store: a window asks again and again. */
async function readAll(store: Store, read: (sources: Sources) => Promise<Table>, shown?: InOwnWords): Promise<Table> {
  try {
    return await read(
      sourcesOf(
        () => store,
        () => [],
        shown,
      ),
    );
  } finally {
    await store.close();
  }
}

function endedTable(ended: EndedTasks, shown: InOwnWords): Table {
  return {
    size: ended.size,
    columns: ended.columns,
    *rows(keys) {
      const needsWords = keys.some((key) => !WORDLESS.has(key));
      for (const { row, read } of ended.rows(needsWords ? [...keys, 'role'] : keys)) {
        const whole = (): Row | undefined => {
          const placed = read();
          return placed && taskRow(shown(placed));
        };
        const { role } = row;
        // Only its record tells whose words they are.
        const own = needsWords && isRequest({ role: String(role) }) ? whole() : row;
        if (own !== undefined) yield { row: own, read: whole };
      }
    },
  };
}

/** Keys that no request has words in. */
const WORDLESS = new Set(['id', 'role', 'state', 'completed', 'failed', 'in_progress', 'parent', 'root', 'ended_at']);

/** The tables of an open workspace. It has no index, so every record is read. */
export function sourcesOf(
  open: () => Store,
  agents: () => Iterable<Agent>,
  shown: InOwnWords = (placed) => placed,
): Sources {
  const rowOf = (placed: Placed): Row => taskRow(shown(placed));
  return {
    async tasks({ states, limit, isCount, keep }: WantedTasks = ALL_TASKS) {
      const store = open();
      await store.tasks.scan(true);
      const shared = (store as Partial<FarStore>).far;
      if (shared !== undefined && isCount) {
        const counts = await Promise.all(states.map((state) => shared.ledger.count(state)));
        const ended = states.map((state, at) => repeated(stateColumns(state), counts[at]!));
        return ended.reduce(joinedTables, tableOf([...store.tasks.open()].map(rowOf)));
      }
      if (shared !== undefined && limit === undefined) {
        const ended = await shared.keptOfEnded(states, (placed) => keep(rowOf(placed)));
        return tableOf([...[...store.tasks.open()].map(rowOf), ...ended]);
      }
      const which = defined({ limit, state: states.length === 1 ? states[0] : undefined });
      const ended = states.length === 0 ? [] : await store.tasks.ended(which);
      return tableOf([...store.tasks.open(), ...ended].map(rowOf));
    },
    async sessions() {
      const store = open();
      const rows: Row[] = [];
      for (const id of await store.sessions.list()) {
        const opened = await store.sessions.open(id);
        if (opened.kind === 'held') rows.push({ id, status: 'held', problem: opened.problem.message });
        if (opened.kind !== 'open') continue;
        const { header, messages } = opened.session;
        rows.push({
          id,
          agent: header.agentId,
          type: header.agentType,
          model: header.model,
          status: header.status,
          task: header.task,
          created: header.created,
          messages: messages.length,
          updated: messages.at(-1)?.timestamp ?? header.created,
        });
      }
      return tableOf(rows);
    },
    agents: async () => agentTable(agents()),
    async events() {
      return tableOf(await open().events.list());
    },
  };
}

const ALL_TASKS: WantedTasks = { states: ENDED_STATES, isCount: false, keep: (row) => row };

/** A table for counting: the same row many times. */
function repeated(row: Row, size: number): Table {
  return {
    size,
    columns: () => Object.keys(row),
    *rows() {
      for (let n = 0; n < size; n++) yield { row, read: () => row };
    },
  };
}

function agentTable(agents: Iterable<Agent>): Table {
  const rows = [...agents].map((agent) => ({
    name: agent.name,
    description: agent.description,
    models: agent.models,
    tools: agent.tools,
    agents: agent.agents,
    capabilities: agent.capabilities,
    expertise: agent.expertise,
    priority: agent.priority,
    type: agent.type,
    format: agent.format,
    file: agent.file,
  }));
  return tableOf(rows);
}
