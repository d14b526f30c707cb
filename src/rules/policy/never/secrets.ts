/**
 * Recognises secret paths and protected names in a command line. Paths are normalised by their
 * spelling alone (`.`, `..`, `//`, case). Only without a sandbox are they also looked up, because
 * nothing else confines the command then. In doubt a path counts as secret; the price is a
 * question to the human.
 */
import { isSecretName, mayBeSecret } from '../names/secret-names.js';

export interface Places {
  /** The home directory of the user that would run the command. */
  home?: string;
  /** The directory it would run in. */
  cwd?: string;
  /**
   * Without a sandbox: why a person must allow the command to read this path, or everything below
   * it. It looks at the disk.
   */
  operand?: ((path: string, isDeep: boolean) => string | undefined) | undefined;
}

/** Why reading this path needs a person; undefined if it does not. */
export function secretPath(path: string, places: Places): string | undefined {
  return path === '' ? undefined : (secretWord(path, places) ?? places.operand?.(path, false));
}

/** Like `secretPath`, from the spelling alone, for a word that the command does not open. */
function secretWord(path: string, places: Places): string | undefined {
  // Most words are not paths. Only these names are secret without a dot or a slash.
  if (!/[./~]/.test(path) && !/^(secrets|_netrc|kubeconfig|id_\w+|ssh_host_\w+)$/i.test(path)) return undefined;
  // Nor do most paths name a device, a secret or a session.
  if (!path.startsWith('/') && !mayBeSecret(path) && !/session/i.test(path)) return undefined;
  const plain = plainPath(path, { home: places.home });
  // A path with leading `..` may end anywhere, so it is treated as relative to the root.
  const rooted = plain.startsWith('/') || plain.startsWith('..');
  const parts = namesOf(plain);
  const whole = `/${parts.join('/')}`;
  if (rooted) {
    if (parts[0] === 'dev' && parts.length > 1 && whole !== '/dev/null') return `${path} is a device`;
    if (parts[0] === 'proc' && parts.some((part) => PROC.has(part))) return `${path} shows the inside of a process`;
    if (/^\/etc\/(g?shadow|sudoers|security\/opasswd|krb5\.keytab)/.test(whole))
      return `${path} contains password data`;
  }
  if (isSecretName(parts)) return `${path} may contain a secret`;
  if (parts.includes('.guild')) return `${path} is private to the program`;
  if (/\.session\.yaml$/.test(whole) || /\/sessions\/./.test(whole)) return `${path} may be another agent's session`;
  return undefined;
}

/** Why reading everything below this path needs a person. */
export function secretBelow(path: string, places: Places): string | undefined {
  const own = secretPath(path, places);
  if (own !== undefined) return own;
  const plain = plainPath(path, { home: places.home });
  if (/^\.\.(\/\.\.)*$/.test(plain)) return `${path} leads out of the folder the command runs in`;
  const home = places.home && plainPath(places.home, {});
  const parts = namesOf(plain);
  const above = plain.startsWith('/') && (parts.length === 0 || ABOVE.has(parts[0]!) || plain === home);
  if (above && (parts.length < 2 || plain === home)) return `there are secrets below ${path}`;
  if (plain.startsWith('/') && /^(home|users)$/.test(parts[0] ?? '') && parts.length === 2) {
    return `there are secrets below ${path}`;
  }
  if (plain.startsWith('/') && parts[0] === 'proc') return `there are secrets below ${path}`;
  if (parts.at(-1) === 'sessions') return `there are sessions of other agents below ${path}`;
  return places.operand?.(path, true);
}

/**
 * Resolves `.`, `..`, repeated slashes and a leading `~`. Relative paths stay relative without a
 * cwd.
 */
export function plainPath(path: string, places: Places): string {
  let text = path;
  if (places.home !== undefined && (text === '~' || text.startsWith('~/'))) text = places.home + text.slice(1);
  if (!text.startsWith('/') && places.cwd?.startsWith('/')) text = `${places.cwd}/${text}`;
  const rooted = text.startsWith('/');
  const parts: string[] = [];
  for (const part of text.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!rooted) parts.push('..');
  }
  return (rooted ? '/' : '') + parts.join('/') || '.';
}

function namesOf(plain: string): string[] {
  return plain
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '' && part !== '.' && part !== '..');
}

/**
 * Why a command with this word needs a person even if a rule allows it: it could change policy or
 * records.
 */
export function protectedName(word: string): string | undefined {
  const match = PROTECTED.exec(word.toLowerCase().replace(/\/(\.?\/)+/g, '/'));
  if (!match) return undefined;
  const name = match[0].replace(/^[^a-z.]+/, '').replace(/\/$/, '');
  return `it names ${name}, which belongs to the policy or the records of the workspace`;
}

const PROC = new Set(['environ', 'mem', 'maps', 'auxv', 'root', 'cwd', 'fd', 'fdinfo', 'kcore', 'map_files', 'task']);
const ABOVE = new Set(['etc', 'root', 'home', 'users', 'proc', 'dev', 'run', 'var', 'private', 'sys']);
const PROTECTED =
  /(^|[/=:,'"\s@])(tasks|storage|agents|templates|sessions|events|plugins|inbox|\.git|\.guild|\.claude|\.agents|\.gemini|\.opencode)(\/|$|['"\s])|guild\.ya?ml|\.mcp\.json|approvals\.task|allowlist|policy\.yaml|\.session\.yaml|\.task\.md/;
