/** Texts of the project that agents work in: its skills, and its instructions for agents. */
import type { Problem } from '../../domain/problem.js';

export interface Skill {
  name: string;
  description: string;
  /** The folder, relative to the workspace. */
  folder: string;
  /** Only a person, or an agent file, chooses it. */
  isHidden: boolean;
}

interface SkillText {
  skill: Skill;
  body: string;
  /** Its other files, relative to the workspace; at most 50. */
  files: string[];
}

export interface Project {
  /** Sorted by name. Cheap if nothing changed. */
  skills(): readonly Skill[];
  /** Undefined if there is no such skill. */
  skill(name: string): SkillText | undefined;
  /**
   * The nearest AGENTS.md or, without one, the nearest CLAUDE.md: in the workspace, or in a folder
   * above it in the same repository. The text is cut at a limit.
   */
  instructions(): { file: string; text: string } | undefined;
  /** Skills that cannot be used, and why. */
  problems(): Problem[];
}
