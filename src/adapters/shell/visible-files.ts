/**
 * The part of a workspace that a sandboxed command may see. Top-level entries are mounted one by
 * one, so a private name created later stays invisible. Below them, files that look like secrets
 * are covered. A folder with too many entries to check is left out.
 */
import fs from 'node:fs';
import path from 'node:path';

interface Visibility {
  /** Top-level entries, mounted read-only. */
  shown: { path: string; link?: string }[];
  /** Entries below them to cover. */
  covered: { path: string; isFolder: boolean }[];
}

/** Never visible: private to the program, or other agents' conversations. */
const PRIVATE = new Set(['.guild', '.git', 'sessions', 'quarantine']);
/**
 * Written by the program, which keeps secrets out of them. They are not checked, however many files
 * they have.
 */
const OURS = new Set(['tasks', 'events', 'bus', 'results', 'storage', 'inbox', 'memory']);

const SECRET_FOLDERS = new Set(
  'secrets .ssh .aws .gnupg .gcloud .azure .kube .docker .config .password-store .guild'.split(' '),
);
const SECRET_FILES = new Set(
  '.netrc _netrc .npmrc .pypirc .pgpass .git-credentials .htpasswd .bash_history .zsh_history'.split(' '),
);
const KEY_NAME =
  /^(ssh_host_[a-z0-9]+_key|id_(rsa|dsa|ecdsa|ed25519|xmss)(_sk)?)$|\.(pem|key|p8|p12|pfx|pk8|ppk|jks|keystore|kdbx)$/;

/** The agent sees all of `ownFolders`. A folder with more than `maxEntries` is not checked. */
export function visibleFiles(root: string, ownFolders: readonly string[], maxEntries: number): Visibility {
  const visibility: Visibility = { shown: [], covered: [] };
  for (const entry of fs.readdirSync(root, { withFileTypes: true })) {
    const name = entry.name.toLowerCase();
    const file = path.join(root, entry.name);
    if (PRIVATE.has(name) || isSecret(name)) continue;
    if (entry.isSymbolicLink()) visibility.shown.push({ path: file, link: fs.readlinkSync(file) });
    else if (entry.isFile() || OURS.has(name)) visibility.shown.push({ path: file });
    else if (entry.isDirectory()) {
      const covered = secretsBelow(file, ownFolders, maxEntries);
      if (covered === undefined) continue;
      visibility.shown.push({ path: file });
      visibility.covered.push(...covered);
    }
  }
  return visibility;
}

/** Undefined if there are too many entries to check. */
function secretsBelow(
  start: string,
  ownFolders: readonly string[],
  maxEntries: number,
): Visibility['covered'] | undefined {
  const covered: Visibility['covered'] = [];
  const folders = [start];
  let count = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (ownFolders.includes(folder)) continue;
    const entries = list(folder);
    count += entries.length;
    if (count > maxEntries) return undefined;
    for (const entry of entries) {
      const file = path.join(folder, entry.name);
      const isFolder = entry.isDirectory();
      if (isSecret(entry.name.toLowerCase()) && !entry.isSymbolicLink()) covered.push({ path: file, isFolder });
      else if (isFolder) folders.push(file);
    }
  }
  return covered;
}

/** The command runs as the same user, so it cannot read a folder that we cannot read. */
function list(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isSecret(name: string): boolean {
  return name.startsWith('.env') || SECRET_FOLDERS.has(name) || SECRET_FILES.has(name) || KEY_NAME.test(name);
}
