/** Finds the agent files of a workspace, and knows the format of each by its place. */
import path from 'node:path';
import type { AgentFormat } from '../../domain/agent/agent.js';
import { FOREIGN_AGENT_FOLDERS, mayBeAgent, mayHoldAgents } from '../../domain/agent/places.js';

/** Where our own agent files are: the folder, the extension and the format. */
const PLACES: { folder: string; ends: string; format: AgentFormat }[] = [
  { folder: 'agents', ends: '.agent.yaml', format: 'agent-yaml' },
  { folder: 'agents', ends: '.agent.yml', format: 'agent-yaml' },
  { folder: 'templates', ends: '.agent.yaml', format: 'agent-yaml' },
  { folder: 'templates', ends: '.agent.yml', format: 'agent-yaml' },
  { folder: 'agents', ends: '.ai', format: 'ai' },
  { folder: '.', ends: '.ai', format: 'ai' },
  { folder: 'agents', ends: '.md', format: 'markdown' },
];

const OWN_FOLDERS = [...new Set(PLACES.map(({ folder }) => folder))];

/** Every folder whose files are looked at, except sub-folders. */
export const AGENT_FOLDERS = [...OWN_FOLDERS, ...FOREIGN_AGENT_FOLDERS];

const MAX_DEPTH = 4;
const MAX_FOREIGN = 5000;

/** `list` gives the names in a folder, none if it is missing or not a folder. */
export function agentFiles(list: (folder: string) => string[], exists: (file: string) => boolean): string[] {
  const files = new Set<string>();
  const names = new Map(OWN_FOLDERS.map((folder) => [folder, list(folder)]));
  for (const { folder, ends } of PLACES) {
    for (const name of names.get(folder)!) {
      if (name.endsWith(ends) && !name.startsWith('.') && name !== 'README.md')
        files.add(path.posix.join(folder, name));
    }
  }
  for (const name of names.get('agents')!) {
    const file = `agents/${name}/agent.md`;
    if (!name.includes('.') && name !== 'live' && name !== 'retired' && exists(file)) files.add(file);
  }
  const walk = (folder: string, depth: number): void => {
    for (const name of list(folder)) {
      const file = path.posix.join(folder, name);
      if (files.size > MAX_FOREIGN) return;
      if (mayBeAgent(name)) files.add(file);
      else if (depth < MAX_DEPTH && !name.includes('.') && mayHoldAgents(name)) walk(file, depth + 1);
    }
  };
  for (const folder of FOREIGN_AGENT_FOLDERS) walk(folder, 0);
  return [...files].sort(byPrecedence);
}

/**
 * Of two agents with one name the first is used: our own folders come before other programs'
 * folders.
 */
export function byPrecedence(a: string, b: string): number {
  return Number(a.startsWith('.')) - Number(b.startsWith('.')) || (a < b ? -1 : a > b ? 1 : 0);
}

export function formatOf(file: string): AgentFormat | undefined {
  if (FOREIGN_AGENT_FOLDERS.some((folder) => file.startsWith(`${folder}/`))) return 'claude';
  const folder = path.posix.dirname(file);
  return PLACES.find((place) => place.folder === folder && file.endsWith(place.ends))?.format;
}

/** In `.agents` there are other pages too; only frontmatter with a description makes an agent. */
export function isOtherPage(file: string, text: string): boolean {
  return file.startsWith('.agents/') && !startsLikeAnAgent(text);
}

export function startsLikeAnAgent(text: string): boolean {
  return /^\uFEFF?---[ \t]*\r?\n(?:[^]*?\n)?(?:name|description):/.test(text.slice(0, 2048));
}
