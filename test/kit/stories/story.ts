/** The definition of a story, how it is written to a disk, and what its people do. */
import path from 'node:path';
import type { Disk } from '../../../src/ports/disk.js';
import { ROOT } from '../cluster.js';
import type { SimDisk } from '../sim-disk.js';

export interface Story {
  name: string;
  agents: Record<string, string>;
  /** Other files of the workspace. */
  files?: Record<string, string>;
  /** Task files as a person drops them. */
  tasks: Record<string, unknown>;
  script: string;
  /** The result of each root task, by id; a RegExp if it may vary. */
  results: Record<string, string | RegExp>;
  /** Model calls without faults. */
  calls: number;
  /** Additional calls that an unlucky order may need without faults. */
  slack?: number;
  /**
   * Tasks that a person adds under others. If such a task ends before its parent checks, only its
   * own record has its cost; `guild task tree` still adds it.
   */
  put?: string[];
  /** Tools that need approval in this story. */
  asks?: string[];
  /** Acts as the human when nothing moves; returns true if there was something to do. */
  human?: (disk: SimDisk) => boolean;
  /** The exact content of files at the end; shows that effects happened once. */
  written?: Record<string, string>;
  /** Additional checks at the end, of the files alone; returns the problems, each as one line. */
  check?: (disk: SimDisk) => string[];
}

export function writeStory(disk: Disk, story: Story): void {
  const put = (file: string, text: string): void => {
    const full = path.join(ROOT, file);
    disk.makeFolder(path.dirname(full));
    disk.create(full, text);
  };
  put('guild.yaml', story.files?.['guild.yaml'] ?? '');
  for (const [name, text] of Object.entries(story.agents)) put(`agents/${name}.md`, text);
  for (const [name, text] of Object.entries(story.files ?? {})) put(name, text);
  for (const [name, task] of Object.entries(story.tasks)) put(`tasks/pending/${name}.json`, JSON.stringify(task));
}

export const BALLOT = path.join(ROOT, 'tasks/approvals.task.md');

/** Edits the ballot as a person would: every open entry, once. */
export function mark(disk: SimDisk, box: string, more: (text: string) => string = (text) => text): boolean {
  const read = disk.read(BALLOT);
  const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
  if (!text.includes('- [_]')) return false;
  disk.save(BALLOT, more(text.replaceAll('- [_]', `- ${box}`)));
  return true;
}

/** An agent file. */
export const agent = (front: string, prompt = 'Do what you are asked.'): string => `---\n${front}\n---\n${prompt}\n`;
