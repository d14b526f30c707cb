/** The agents of a workspace, as their files define them now or did when a conversation started. */
import type { Agent } from '../domain/agent/agent.js';
import type { Problem } from '../domain/problem.js';

export interface Agents {
  /**
   * Reads changed files again and returns new problems. Cheap if nothing changed. `isKnown`: only
   * considers changes made through this port.
   */
  refresh(isKnown?: boolean): Problem[];
  all(): ReadonlyMap<string, Agent>;
  /** Agents whose file has never been readable in this process, by the name of the file. */
  unreadable?(): ReadonlyMap<string, Problem>;
  /** Why this agent cannot get work, such as a cycle of references or an unknown agent. */
  fault(name: string): Problem | undefined;
  /** The content of the defining file, for pinning. */
  source(agent: Agent): string;
  /** The agent that this content defines; undefined if it is invalid. */
  parse(source: string, file: string): Agent | undefined;
  /** The problems that `agents/<name>.md` would have with this content. */
  problemsOf(name: string, source: string): Problem[];
  /** Moves the agent's file to `agents/retired/`. False if there is no `agents/<name>.md`. */
  retire(name: string): boolean;
  /**
   * Writes `agents/<name>.md`, durable. Fails if the source is invalid or the name is taken.
   * `approval`: the id of the request that a person approved.
   */
  create(name: string, source: string, approval: string): Promise<Problem | undefined>;
  /** The system prompt with tool descriptions and variables filled in. */
  prompt(agent: Agent, toolDescriptions: string, variables: Record<string, string>): string;
}
