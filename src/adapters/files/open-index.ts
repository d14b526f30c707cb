/** The open tasks in memory, also by file. */
import { openIndex, type OpenIndex, type OpenRow } from '../../rules/scheduling/open-index.js';
import type { OpenState } from '../../domain/task/task.js';
import type { ClaimName } from './base/layout.js';

export interface Entry extends OpenRow {
  file: string;
  stamp: string;
  owner?: ClaimName;
  /** Identifies the content of the file; absent: not known. */
  sum?: string;
}

export interface FileIndex extends OpenIndex<Entry> {
  byFile: Map<string, Entry>;
  filesOf: Record<OpenState, Set<string>>;
}

export function fileIndex(): FileIndex {
  const index = openIndex<Entry>();
  const byFile = new Map<string, Entry>();
  const filesOf: Record<OpenState, Set<string>> = { pending: new Set(), active: new Set(), waiting: new Set() };
  return {
    ...index,
    get changes() {
      return index.changes;
    },
    byFile,
    filesOf,
    add(entry) {
      index.add(entry);
      byFile.set(entry.file, entry);
      filesOf[entry.state].add(entry.file);
    },
    remove(entry) {
      index.remove(entry);
      if (byFile.get(entry.file) === entry) byFile.delete(entry.file);
      filesOf[entry.state].delete(entry.file);
    },
  };
}
