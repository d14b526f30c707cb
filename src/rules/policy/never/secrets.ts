/**
 * Which path of a command line is a secret, and which names a command must not touch by itself. Paths are compared as written,
 * made plain by spelling alone (`.`, `..`, `//`, case): the disk is not asked, because the verdict must be the same tomorrow.
 * Too much is called secret rather than too little; the price is a question to the human.
 */

export interface Places {
  /** The home directory of whoever would run it. */
  home?: string;
  /** Where it would run. */
  cwd?: string;
}

/** Why reading this path needs a person; undefined if it does not. */
export function secretPath(path: string, places: Places): string | undefined {
  // Most words are no path at all; these few names are secret without a dot or a slash.
  if (!/[./~]/.test(path) && !/^(secrets|_netrc|id_\w+)$/i.test(path)) return undefined;
  const plain = plainPath(path, { home: places.home });
  // A path that climbs may end anywhere, so it is read as if it had climbed to the root.
  const rooted = plain.startsWith('/') || plain.startsWith('..');
  const parts = namesOf(plain);
  const whole = `/${parts.join('/')}`;
  if (rooted) {
    if (parts[0] === 'dev' && parts.length > 1 && whole !== '/dev/null') return `${path} is a device`;
    if (parts[0] === 'proc' && parts.some((part) => PROC.has(part))) return `${path} shows a process from inside`;
    if (/^\/etc\/(g?shadow|sudoers|security\/opasswd|krb5\.keytab)/.test(whole)) return `${path} holds password data`;
  }
  if (isSecretName(parts)) return `${path} may hold a secret`;
  if (parts.includes('.guild')) return `${path} is private to the program`;
  if (/\.session\.yaml$/.test(whole) || /\/sessions\/./.test(whole)) return `${path} may be another agent's session`;
  return undefined;
}

/** Whether a file of the workspace has the name of a file with credentials. */
export function mayHoldSecret(file: string): boolean {
  return isSecretName(namesOf(plainPath(file, {})));
}

function isSecretName(parts: readonly string[]): boolean {
  const last = parts.at(-1) ?? '';
  if (parts.some((part) => FOLDERS.has(part) || part.startsWith('.env'))) return true;
  if (FILES.has(last) || KEY.test(last)) return true;
  return /\/\.docker\/config\.json$|\/\.config\/(gh|gcloud)(\/|$)/.test(`/${parts.join('/')}`);
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
  if (above && (parts.length < 2 || plain === home)) return `secrets lie below ${path}`;
  if (plain.startsWith('/') && /^(home|users)$/.test(parts[0] ?? '') && parts.length === 2) {
    return `secrets lie below ${path}`;
  }
  if (plain.startsWith('/') && parts[0] === 'proc') return `secrets lie below ${path}`;
  return parts.at(-1) === 'sessions' ? `other agents' sessions lie below ${path}` : undefined;
}

/** `.`, `..`, doubled slashes and a leading `~` taken out. Relative paths stay relative unless the place is known. */
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

/** Why a command that names this word must not run by itself, although a rule lets it: it could change who decides. */
export function protectedName(word: string): string | undefined {
  const found = PROTECTED.exec(word.toLowerCase().replace(/\/(\.?\/)+/g, '/'));
  return found
    ? `it names ${found[0].replace(/^[^a-z.]+/, '').replace(/\/$/, '')}, which decides or records`
    : undefined;
}

const FOLDERS = new Set(['.ssh', '.aws', '.gnupg', 'secrets', '.kube', '.azure', '.password-store']);
const FILES = new Set(['.netrc', '_netrc', '.npmrc', '.pypirc', '.pgpass', '.git-credentials', '.htpasswd']);
const KEY = /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/;
const PROC = new Set(['environ', 'mem', 'maps', 'auxv', 'root', 'cwd', 'fd', 'fdinfo', 'kcore', 'map_files', 'task']);
const ABOVE = new Set(['etc', 'root', 'home', 'users', 'proc', 'dev', 'run', 'var', 'private', 'sys']);
const PROTECTED =
  /(^|[/=:,'"\s@])(tasks|storage|agents|templates|sessions|events|plugins|inbox|\.git|\.guild|\.claude)(\/|$|['"\s])|guild\.ya?ml|approvals\.task|allowlist|policy\.yaml|\.session\.yaml|\.task\.md/;
