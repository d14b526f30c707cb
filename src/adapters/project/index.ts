/** Skills and project instructions from their files. A file is read again when it changes. */
import fs from 'node:fs';
import path from 'node:path';
import { SKILL_FOLDERS } from '../../domain/agent/places.js';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import type { Project, Skill } from '../../ports/reading/project.js';
import { parseSkill } from '../../text/agent/skill.js';
import { decodeUtf8, notUtf8 } from '../../text/lines/utf8.js';

const MAX_SKILL_BYTES = 256 * 1024;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_INSTRUCTIONS = 32 * 1024;
const MAX_SKILLS = 500;
const MAX_FILES = 50;
const NAMES = ['AGENTS.md', 'CLAUDE.md', '.claude/CLAUDE.md'];

interface Loaded {
  stamp: string | undefined;
  read: ReturnType<typeof parseSkill>;
}

export function project(disk: Disk, root: string): Project {
  const loaded = new Map<string, Loaded>();
  const folders = foldersUpToRepository(disk, root);
  const stampOf = (file: string): string | undefined => {
    const stamp = fenced(file, () => disk.glance(file));
    return isUnreadable(stamp) ? 'unknown' : stamp;
  };
  const namesIn = (folder: string): string[] => {
    if (stampOf(path.join(root, folder)) === undefined) return [];
    const names = fenced(folder, () => disk.list(path.join(root, folder)));
    return isUnreadable(names) ? [] : names.filter((name) => !name.startsWith('.')).sort();
  };

  return {
    skills: () => [...found().values()].map(({ skill }) => skill).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    skill(name) {
      const match = found().get(name);
      return match && { ...match, files: filesBelow(match.skill.folder) };
    },
    instructions() {
      for (const folder of folders) {
        for (const name of NAMES) {
          const file = path.join(folder, name);
          if (stampOf(file) === undefined) continue;
          const text = textOf(file, MAX_FILE_BYTES);
          if (typeof text === 'string' && text.trim() !== '')
            return { file: path.relative(root, file), text: limited(text) };
        }
      }
      return undefined;
    },
    problems() {
      found();
      return [...loaded.values()].flatMap(({ read }) => ('code' in read ? [read] : []));
    },
  };

  function found(): Map<string, { skill: Skill; body: string }> {
    const skills = new Map<string, { skill: Skill; body: string }>();
    const seen = new Set<string>();
    for (const folder of skillFolders()) {
      const file = `${folder}/SKILL.md`;
      seen.add(file);
      const read = load(file, path.posix.basename(folder));
      if ('code' in read || skills.has(read.name)) continue;
      const { name, description, isHidden, body } = read;
      skills.set(name, { skill: { name, description, folder, isHidden }, body });
    }
    for (const file of loaded.keys()) if (!seen.has(file)) loaded.delete(file);
    return skills;
  }

  /** Folders with a SKILL.md, also one level deeper, because people group skills in folders. */
  function skillFolders(): string[] {
    const folders: string[] = [];
    const isSkill = (folder: string): boolean => stampOf(path.join(root, folder, 'SKILL.md')) !== undefined;
    for (const top of SKILL_FOLDERS) {
      for (const folder of namesIn(top).map((name) => `${top}/${name}`)) {
        if (isSkill(folder)) folders.push(folder);
        else
          folders.push(
            ...namesIn(folder).flatMap((name) => (isSkill(`${folder}/${name}`) ? [`${folder}/${name}`] : [])),
          );
        if (folders.length >= MAX_SKILLS) return folders;
      }
    }
    return folders;
  }

  function load(file: string, folder: string): Loaded['read'] {
    const stamp = stampOf(path.join(root, file));
    const before = loaded.get(file);
    if (before !== undefined && before.stamp === stamp) return before.read;
    const text = textOf(path.join(root, file), MAX_SKILL_BYTES);
    const read = typeof text === 'string' ? parseSkill(text, file, folder) : text;
    loaded.set(file, { stamp, read });
    return read;
  }

  function textOf(file: string, maxBytes: number): string | Problem {
    const shown = path.relative(root, file);
    const read = fenced(shown, () => disk.read(file, maxBytes));
    if (read.kind === 'unreadable') return read.problem;
    if (read.kind !== 'file')
      return problem('bad_file', `${shown} is too big or not a file`, { where: { file: shown } });
    const text = decodeUtf8(read.bytes);
    return typeof text === 'string' ? text : notUtf8(shown, text);
  }

  function filesBelow(folder: string): string[] {
    const files: string[] = [];
    const walk = (below: string, depth: number): void => {
      for (const name of namesIn(below)) {
        const file = `${below}/${name}`;
        if (files.length >= MAX_FILES) return;
        const inside = depth < 3 && !name.includes('.') ? namesIn(file) : [];
        if (inside.length > 0) walk(file, depth + 1);
        else if (name !== 'SKILL.md') files.push(file);
      }
    };
    walk(folder, 0);
    return files;
  }
}

function limited(text: string): string {
  return text.length <= MAX_INSTRUCTIONS
    ? text
    : `${text.slice(0, MAX_INSTRUCTIONS)}\n[… cut: read the file for the rest]`;
}

/**
 * The workspace and the folders above it, up to the top of its repository. The search ends at a
 * folder that somebody else owns or can write, because every agent would read its instructions.
 */
function foldersUpToRepository(disk: Disk, root: string): string[] {
  const folders: string[] = [];
  const owner = fs.statSync(root, { throwIfNoEntry: false })?.uid;
  for (let folder = root; ; folder = path.dirname(folder)) {
    if (folder !== root && !isOwn(folder, owner)) return [root];
    folders.push(folder);
    const isTop = fenced(folder, () => disk.stamp(path.join(folder, '.git')));
    if (isUnreadable(isTop)) return [root];
    if (isTop !== undefined) return folders;
    if (path.dirname(folder) === folder) return [root];
  }
}

function isOwn(folder: string, owner: number | undefined): boolean {
  const stat = fs.statSync(folder, { throwIfNoEntry: false });
  return process.getuid === undefined || (stat !== undefined && stat.uid === owner && (stat.mode & 0o022) === 0);
}
