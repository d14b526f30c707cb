/**
 * The rules of size and order that a source tree keeps. Each returns the places that break it, one
 * line each.
 */
import path from 'node:path';
import type { Source } from './parse.js';

export const FUNCTION_LINES = 70;
const FOLDER_FILES = 20;
export const COMMENT_COLUMNS = 100;

/** Inner functions count separately. */
export function longFunctions(sources: readonly Source[], most = FUNCTION_LINES): string[] {
  return sources.flatMap(({ file, functions }) =>
    functions
      .filter(({ ownLines }) => ownLines > most)
      .map(({ name, line, ownLines }) => `${file}:${line}: ${name} has ${ownLines} lines`),
  );
}

export function fullFolders(sources: readonly Source[], most = FOLDER_FILES): string[] {
  return [...folderSizes(sources)]
    .filter(([, files]) => files > most)
    .map(([folder, files]) => `${folder} has ${files} files`);
}

/** Files directly in each folder. */
export function folderSizes(sources: readonly Source[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { file } of sources) sizes.set(path.dirname(file), (sizes.get(path.dirname(file)) ?? 0) + 1);
  return sizes;
}

export function wideComments(sources: readonly Source[], most = COMMENT_COLUMNS): string[] {
  return sources.flatMap(({ file, comments }) =>
    comments
      .filter(({ columns }) => columns > most)
      .map(({ line, columns }) => `${file}:${line}: the comment ends in column ${columns}`),
  );
}

export function fileCycles(sources: readonly Source[]): string[] {
  return cyclesIn(importGraph(sources, (file) => file)).map((files) => files.join(', '));
}

/** Each folder is a node: also one inside another. */
export function folderCycles(sources: readonly Source[]): string[] {
  return cyclesIn(importGraph(sources, path.dirname)).map((folders) => folders.join(', '));
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Imports of types count. `nodeOf`: the node that a file belongs to; imports within a node are left
 * out.
 */
function importGraph(sources: readonly Source[], nodeOf: (file: string) => string): Graph {
  const known = new Set(sources.map(({ file }) => file));
  const graph = new Map<string, Set<string>>();
  for (const { file, imports } of sources) {
    const from = graph.get(nodeOf(file)) ?? new Set<string>();
    graph.set(nodeOf(file), from);
    for (const { from: other, isRelative } of imports)
      if (isRelative && known.has(other) && nodeOf(other) !== nodeOf(file)) from.add(nodeOf(other));
  }
  return graph;
}

/** Groups of nodes that all reach each other (Tarjan). */
function cyclesIn(graph: Graph): string[][] {
  const found: string[][] = [];
  const index = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (node: string): void => {
    index.set(node, index.size);
    lowest.set(node, index.get(node)!);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== index.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) found.push(group.sort());
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found;
}
