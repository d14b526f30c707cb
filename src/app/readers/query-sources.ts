/**
 * The workspace as rows for queries, read from the current files on each query; no engine, no
 * model.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Store } from '../../ports/store/index.js';
import { openReader } from './open-reader.js';
import { openRoster } from './open-roster.js';
import type { Row, Sources } from '../../adapters/boards/queries.js';

export function querySources(root: string): Sources {
  return sourcesOf(
    () => openReader(root),
    () => openRoster(root).agents.values(),
  );
}

/** The same for an open workspace. */
export function sourcesOf(open: () => Store, agents: () => Iterable<Agent>): Sources {
  return {
    async tasks() {
      const store = open();
      await store.tasks.scan(true);
      const placed = [...store.tasks.open(), ...(await store.tasks.ended())];
      return placed.map(({ task: { extra, ...task }, state, owner }) => {
        const { id, to, description } = task;
        const first = { id, state, to, description };
        // The program's keys win over equal keys in the file.
        return {
          ...first,
          ...extra,
          ...task,
          state,
          completed: state === 'completed',
          failed: state === 'failed',
          in_progress: state === 'active',
          ...(owner ? { held_by: owner.agent } : {}),
        };
      });
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
      return rows;
    },
    async agents() {
      return [...agents()].map((agent) => ({
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
    },
    async events() {
      return open().events.list();
    },
  };
}
