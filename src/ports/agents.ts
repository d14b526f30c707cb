/** The agents of a workspace, as their files define them now, and as they were when a conversation began. */
import type { Agent } from '../domain/agent/agent.js';
import type { Problem } from '../domain/problem.js';

export interface Agents {
  /** Looks at the files again; cheap when nothing changed. Returns problems that were not reported before. `isKnown`: only what was changed through here. */
  refresh(isKnown?: boolean): Problem[];
  all(): ReadonlyMap<string, Agent>;
  /** Agents that have a file and no version of it that could ever be read here, by the name the file gives them. */
  unreadable?(): ReadonlyMap<string, Problem>;
  /** Why this agent can be given no work, as the files stand: it would go round in a circle, contradicts itself, or names somebody who is not there. */
  fault(name: string): Problem | undefined;
  /** The bytes of the file that defines it, for pinning. */
  source(agent: Agent): string;
  /** The agent that these bytes defined; undefined if they define none. */
  parse(source: string, file: string): Agent | undefined;
  /** What would be wrong with `agents/<name>.md` if it were this. */
  problemsOf(name: string, source: string): Problem[];
  /** Moves its file to `agents/retired/`, where it is an agent no more. False if it has none of its own. */
  retire(name: string): boolean;
  /** Writes `agents/<name>.md`, durable; what is wrong, if the source defines no agent or the name is taken. */
  create(name: string, source: string): Promise<Problem | undefined>;
  /** The system prompt with tool descriptions and variables filled in. */
  prompt(agent: Agent, toolDescriptions: string, variables: Record<string, string>): string;
}
