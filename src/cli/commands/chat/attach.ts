/**
 * Files that the person pastes or drops into the chat. A file inside the workspace is named by its
 * path; one from elsewhere is copied into `context/`, where agents can read it. The message brings
 * them along as attachments.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Workspace } from '../../../app/index.js';
import { acceptsMedia } from '../../../domain/config/families.js';
import { splitModel } from '../../../domain/config/providers.js';
import { mediaTypeOf } from '../../../domain/file-ref.js';
import { isSecretPath } from '../../../rules/policy/names/secret-names.js';
import { resolveModels } from '../../../rules/scheduling/models.js';

const MAX_BYTES = 20 * 1024 * 1024;

/**
 * Undefined unless the pasted text consists of file paths only; other text is pasted as it is. The
 * path of a secret also stays text, because every agent could read a copy of the file.
 */
export function pastedFiles(root: string, pasted: string): string[] | undefined {
  const paths = pasted.trim().match(/'[^']+'|"[^"]+"|(?:\\.|[^\s\\])+/g) ?? [];
  if (paths.length === 0 || paths.length > 20 || isLink(path.join(root, 'context'))) return undefined;
  const files = paths.map((word) => fileOf(root, word.replace(/^(['"])(.*)\1$/, '$2').replace(/\\(.)/g, '$1')));
  return files.every((file) => file !== undefined) ? files : undefined;
}

function fileOf(root: string, typed: string): string | undefined {
  const full = path.resolve(root, typed.replace(/^file:\/\//, ''));
  if (!path.isAbsolute(typed.replace(/^file:\/\//, ''))) return undefined;
  try {
    const stat = fs.statSync(full);
    if (isSecretPath(full) || isSecretPath(fs.realpathSync(full))) return undefined;
    return stat.isFile() && stat.size <= MAX_BYTES ? full : undefined;
  } catch {
    return undefined;
  }
}

/** Copies would land outside of the workspace. */
function isLink(folder: string): boolean {
  return fs.lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** The path under which agents find the file; copied if it is outside of the workspace. */
export function placed(root: string, file: string): string {
  const inside = path.relative(root, file);
  if (!inside.startsWith('..') && !path.isAbsolute(inside)) return inside;
  const folder = path.join(root, 'context');
  fs.mkdirSync(folder, { recursive: true });
  const { name, ext } = path.parse(file);
  for (let n = 1; ; n++) {
    const target = path.join(folder, `${name}${n === 1 ? '' : `-${n}`}${ext}`);
    try {
      fs.writeFileSync(target, fs.readFileSync(file), { flag: 'wx', mode: 0o600 });
      return path.relative(root, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      // A pipe or device of that name belongs to somebody else.
      const isFile = fs.lstatSync(target).isFile();
      if (isFile && fs.readFileSync(target).equals(fs.readFileSync(file))) return path.relative(root, target);
    }
  }
}

/** A sentence for each image or document that the agent's model cannot see. */
export function unseenMedia({ root, config, agents }: Workspace, agent: string, files: readonly string[]): string[] {
  const resolved = resolveModels(agents().get(agent)!, config);
  const model = 'code' in resolved ? undefined : resolved.models[0];
  if (model === undefined) return [];
  return files.flatMap((file) => {
    const type = mediaTypeOf(headOf(path.join(root, file)));
    if (type === undefined || acceptsMedia(splitModel(model)?.model ?? model, type)) return [];
    return [`${model} cannot see ${file}; ${agent} is informed that it is attached`];
  });
}

const HEAD_BYTES = 64;

function headOf(file: string): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  const fd = fs.openSync(file, 'r');
  try {
    return head.subarray(0, fs.readSync(fd, head, 0, HEAD_BYTES, 0));
  } finally {
    fs.closeSync(fd);
  }
}
