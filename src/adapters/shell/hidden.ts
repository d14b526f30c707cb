/**
 * What of a workspace a sandboxed command may see. Top-level entries are shown one by one, so a private name stays unseen even
 * if it is made while the command runs. Below them, things that look like secrets are covered. Where a folder has too
 * many entries to look through, it is left out: what was not looked at is not shown.
 */
import fs from 'node:fs';
import path from 'node:path';

interface Sight {
  /** Top-level entries to show, read-only. */
  shown: { path: string; link?: string }[];
  /** Below them: to be covered. */
  covered: { path: string; isFolder: boolean }[];
}

/** Never shown: private to the program, or other agents' words. */
const PRIVATE = new Set(['.guild', '.git', 'sessions', 'quarantine']);
/** Written by the program, and without secrets by its own rules: not looked through, however many files they hold. */
const OURS = new Set(['tasks', 'events', 'bus', 'results', 'storage', 'inbox', 'memory']);

const SECRET_FOLDERS = new Set(
  'secrets .ssh .aws .gnupg .gcloud .azure .kube .docker .config .password-store .guild'.split(' '),
);
const SECRET_FILES = new Set(
  '.netrc _netrc .npmrc .pypirc .pgpass .git-credentials .htpasswd .bash_history .zsh_history'.split(' '),
);
const KEY_NAME =
  /^(ssh_host_[a-z0-9]+_key|id_(rsa|dsa|ecdsa|ed25519|xmss)(_sk)?)$|\.(pem|key|p8|p12|pfx|pk8|ppk|jks|keystore|kdbx)$/;

/** `own`: folders of the agent itself, which it sees whole. `lookedAt`: the most entries of one folder to look at. */
export function sightOf(root: string, own: readonly string[], lookedAt: number): Sight {
  const sight: Sight = { shown: [], covered: [] };
  for (const entry of fs.readdirSync(root, { withFileTypes: true })) {
    const name = entry.name.toLowerCase();
    const file = path.join(root, entry.name);
    if (PRIVATE.has(name) || isSecret(name)) continue;
    if (entry.isSymbolicLink()) sight.shown.push({ path: file, link: fs.readlinkSync(file) });
    else if (entry.isFile() || OURS.has(name)) sight.shown.push({ path: file });
    else if (entry.isDirectory()) {
      const covered = secretsBelow(file, own, lookedAt);
      if (covered === undefined) continue;
      sight.shown.push({ path: file });
      sight.covered.push(...covered);
    }
  }
  return sight;
}

/** Undefined if there is too much to look at. */
function secretsBelow(start: string, own: readonly string[], most: number): Sight['covered'] | undefined {
  const covered: Sight['covered'] = [];
  const folders = [start];
  let looked = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (own.includes(folder)) continue;
    const entries = list(folder);
    looked += entries.length;
    if (looked > most) return undefined;
    for (const entry of entries) {
      const file = path.join(folder, entry.name);
      const isFolder = entry.isDirectory();
      if (isSecret(entry.name.toLowerCase()) && !entry.isSymbolicLink()) covered.push({ path: file, isFolder });
      else if (isFolder) folders.push(file);
    }
  }
  return covered;
}

/** A folder that we cannot read, the command, which is nobody else, cannot either. */
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
