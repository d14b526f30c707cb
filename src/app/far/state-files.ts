/**
 * Which files of a workspace are work and which are definitions. Work is in the store; definitions
 * travel by Git. An agent's own repository and private files of this machine are neither.
 */
import fs from 'node:fs';
import path from 'node:path';
import { isSecretPath } from '../../rules/policy/names/secret-names.js';

const WORK = [
  ...['tasks', 'sessions', 'results', 'events', 'memory', 'context', 'scratch', 'inbox', 'bus', 'quarantine'],
  ...['storage/blobs', 'storage/paused', 'storage/planner-checkin.yaml'],
];
const NEITHER = ['.guild', '.git', 'workspaces', 'node_modules', 'agents/live', 'agents/registry.json'];

/** Paths relative to the workspace, with forward slashes, sorted. Secrets are left out. */
export function workFiles(root: string): string[] {
  return walk(root, (file) => isUnder(file, WORK) || WORK.some((start) => start.startsWith(`${file}/`))).filter(
    (file) => isUnder(file, WORK),
  );
}

export function definitionFiles(root: string): string[] {
  return walk(root, (file) => !isUnder(file, [...WORK, ...NEITHER]));
}

function isUnder(file: string, starts: readonly string[]): boolean {
  return starts.some((start) => file === start || file.startsWith(`${start}/`));
}

/** Plain files only: a link could lead out of the workspace. */
function walk(root: string, isWanted: (file: string) => boolean): string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of fs.readdirSync(path.join(root, folder), { withFileTypes: true })) {
      const file = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!isWanted(file) || isSecretPath(file)) continue;
      if (entry.isDirectory()) visit(file);
      else if (entry.isFile()) found.push(file);
    }
  };
  visit('');
  return found.sort();
}
