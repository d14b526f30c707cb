/** What never enters history, whatever a .gitignore says: what is private to the program, what has a history of its own, and secrets. */

/** As exclude patterns: given on the command line they outrank every file. */
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

/** The same for a path that git names itself, such as a tracked file that changed. */
export function isKeptOut(path: string): boolean {
  const parts = path.split('/');
  if (/^(?:\.guild|workspaces|scratch)$/.test(parts[0]!) || path.startsWith('agents/live/')) return true;
  if (parts.some((part) => /^(?:secrets|\.ssh|\.aws|\.git)$/.test(part) || part.startsWith('.env'))) return true;
  return /^(?:\.netrc|\.npmrc|id_(?:rsa|dsa|ecdsa|ed25519).*|.*\.(?:pem|key|p12|pfx))$/.test(parts.at(-1)!);
}

/**
 * What going back leaves alone: what came from outside and what was recorded happened, whatever is undone; and blobs are kept by
 * their hash, so an old one harms nobody.
 */
export function staysAfterUndo(path: string): boolean {
  return isKeptOut(path) || /^(?:events|bus|inbox|quarantine|storage\/blobs)\//.test(path);
}
