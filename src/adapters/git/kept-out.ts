/**
 * Paths that never enter history, regardless of `.gitignore`: the program's private files, folders
 * with a history of their own, and secrets.
 */

/** Exclude patterns. On the command line they take precedence over every ignore file. */
export const KEPT_OUT: readonly string[] = [
  '/.guild/',
  '/workspaces/',
  '/scratch/',
  '/agents/live/',
  '/.doctor-*',
  'secrets/',
  '.env*',
  '.netrc',
  '.npmrc',
  '.ssh/',
  '.aws/',
  'id_rsa*',
  'id_dsa*',
  'id_ecdsa*',
  'id_ed25519*',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
];

/** The same check for a path that git reports, such as a tracked file that changed. */
export function isKeptOut(path: string): boolean {
  const parts = path.split('/');
  if (/^(?:\.guild|workspaces|scratch)$/.test(parts[0]!) || path.startsWith('agents/live/')) return true;
  if (parts.some((part) => /^(?:secrets|\.ssh|\.aws|\.git)$/.test(part) || part.startsWith('.env'))) return true;
  return /^(?:\.netrc|\.npmrc|id_(?:rsa|dsa|ecdsa|ed25519).*|.*\.(?:pem|key|p12|pfx))$/.test(parts.at(-1)!);
}

/**
 * Paths that an undo leaves alone. Messages and recorded events happened regardless of the undo,
 * and blobs are addressed by hash, so an extra one is harmless.
 */
export function staysAfterUndo(path: string): boolean {
  return isKeptOut(path) || /^(?:events|bus|inbox|quarantine|storage\/blobs)\//.test(path);
}
