/**
 * Operands of a reading command where there is no sandbox. They are judged like the paths of file
 * tools: a command runs without asking only if everything it reads is in the workspace and is not a
 * secret.
 */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import type { WorkspaceFiles } from '../../ports/workspace-files.js';
import { isSecretPath } from '../../rules/policy/names/secret-names.js';
import type { Operand } from './index.js';

/** A folder with more entries than this is not searched for secrets, so reading it asks. */
const MAX_ENTRIES = 2000;

export function operandsOf(root: string, folder: Pick<WorkspaceFiles, 'judge'>, agent: string): Operand {
  return (operand, isDeep) => {
    const list = folder.judge(agent, 'list', operand);
    const place = list.verdict === 'ok' ? list : folder.judge(agent, 'read', operand);
    if (place.verdict !== 'ok') return `${operand}: ${place.reason}, and there is no sandbox`;
    return isDeep ? secretsBelow(root, place.path ?? '', operand) : undefined;
  };
}

function secretsBelow(root: string, start: string, operand: string): string | undefined {
  const folders = [start];
  let count = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of list(path.join(root, folder))) {
      const below = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const isPrivate = PRIVATE.has(entry.name) || below === 'sessions' || entry.isSymbolicLink();
      if (++count > MAX_ENTRIES || isPrivate || isSecretPath(below))
        return `there may be secrets below ${operand}, and there is no sandbox`;
      if (entry.isDirectory()) folders.push(below);
    }
  }
  return undefined;
}

const PRIVATE = new Set(['.guild', '.git']);

function list(folder: string): fs.Dirent[] {
  return attempt(() => fs.readdirSync(folder, { withFileTypes: true }), []);
}
