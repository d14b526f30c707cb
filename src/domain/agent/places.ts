/** Where other programs keep their agents and skills in a project. */

/** Agents in Markdown, in these folders and their sub-folders. */
export const FOREIGN_AGENT_FOLDERS: readonly string[] = [
  '.agents',
  '.claude/agents',
  '.gemini/agents',
  '.github/agents',
  '.opencode/agent',
  '.opencode/agents',
];

/** Each skill is a folder with a file SKILL.md. Of two with the same name, the first wins. */
export const SKILL_FOLDERS: readonly string[] = ['.agents/skills', '.claude/skills'];

/** Folders next to agents that contain other files. */
const OTHER_FOLDERS = new Set('skills commands docs hooks instructions prompts rules node_modules'.split(' '));

/** Pages about agents, or instructions for every agent. */
const OTHER_FILES = new Set(['README.md', 'SKILL.md', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md', 'CONTRIBUTING.md']);

export function mayHoldAgents(folder: string): boolean {
  return !folder.startsWith('.') && !OTHER_FOLDERS.has(folder);
}

export function mayBeAgent(file: string): boolean {
  return /^[^.].*(?<!\.(?:instructions|prompt))\.md$/.test(file) && !OTHER_FILES.has(file);
}
