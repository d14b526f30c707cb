/**
 * Who else can write the rules of a workspace. A folder of another user, rules that a group or
 * everybody can write, and state folders that are links are refused: somebody else could decide
 * there.
 */
import fs from 'node:fs';
import { FOREIGN_AGENT_FOLDERS, mayHoldAgents } from '../../domain/agent/places.js';
import { attempt } from '../../domain/attempt.js';
import { problem, type Problem } from '../../domain/problem.js';

const { S_IFMT, S_IFLNK, S_IFDIR } = fs.constants;

/** Nobody else may write these, nor an entry of the folders of rules. */
const RULES = ['guild.yaml', '.mcp.json', 'sessions', '.guild'];
/** Agents may be in folders below these. */
const AGENT_FOLDERS = ['agents', 'templates', ...FOREIGN_AGENT_FOLDERS];
const RULE_FOLDERS = ['storage', ...AGENT_FOLDERS, 'plugins', 'tasks'];

/** Git writes through links to references and their logs, and into linked folders of objects. */
const GIT_FOLDERS = ['objects', 'refs', 'refs/heads', 'logs', 'logs/refs', 'logs/refs/heads'];
const HISTORY = '.guild/history.git';
/** Everything in these is the program's own, so nothing in them is a link. */
const OWN = ['.guild', '.guild/cache', '.guild/history', HISTORY, ...GIT_FOLDERS.map((name) => `${HISTORY}/${name}`)];
/** Folders of folders. A file in them is never written through a link. */
const PARENTS = ['tasks', 'storage', 'inbox', 'quarantine', 'bus'];
/** Records are written and removed here; a link would lead that elsewhere. */
const STATE_FOLDERS = [...PARENTS, 'sessions', 'events', 'results', 'agents/live', ...OWN];

/** `root` is a real path. `owner`: another user whom the person has accepted. */
export function rightsProblems(root: string, owner?: number): Problem[] {
  const { links, writable, uid } = look(root, [...RULES, ...RULE_FOLDERS, ...STATE_FOLDERS]);
  const isOwn = process.getuid === undefined || uid === process.getuid() || (uid !== undefined && uid === owner);
  return [...(isOwn ? [] : [ownerProblem(root, uid)]), ...links.map(linkProblem), ...writableProblem(root, writable)];
}

/** Also for commands that only read or submit: they put broken files into quarantine. */
export function linkedState(root: string): Problem | undefined {
  const [link] = look(root, STATE_FOLDERS).links;
  return link === undefined ? undefined : linkProblem(link);
}

interface Found {
  /** Links where records would be written. */
  links: string[];
  /** Rules that other users can write; '.' is the root. */
  writable: string[];
  /** The owner of the root. */
  uid?: number | undefined;
}

/**
 * Every run looks, in a new process, so calls count here: this is one loop over plain lists and
 * modes.
 */
function look(root: string, names: readonly string[]): Found {
  const stat = lstat(root);
  const found: Found = { links: [], writable: isWritableByOthers(stat) ? ['.'] : [], uid: stat?.uid };
  const top = comparable(namesIn(root));
  const places = new Set(names);
  const agentFolders = new Set(AGENT_FOLDERS);
  for (const name of places) {
    // Most of the places are missing, and one list of the root tells which.
    if (top !== undefined && !top.includes(name.split('/', 1)[0]!)) continue;
    const place = lstat(`${root}/${name}`);
    if (place === undefined) continue;
    // Below a link everything else is elsewhere, too.
    if (isLink(place) && STATE_FOLDERS.includes(name)) return { ...found, links: [name] };
    const isRuleFolder = agentFolders.has(name) || RULE_FOLDERS.includes(name);
    if ((isRuleFolder || RULES.includes(name)) && isWritableByOthers(place)) found.writable.push(name);
    const isOwn = OWN.includes(name);
    const isParent = PARENTS.includes(name);
    if (!isRuleFolder && !isOwn && !isParent) continue;
    for (const entry of namesIn(`${root}/${name}`) ?? []) {
      const path = `${name}/${entry}`;
      const stat = lstat(`${root}/${path}`);
      if (stat === undefined) continue;
      if (isLink(stat) && (isOwn || (isParent && isFolder(`${root}/${path}`)))) found.links.push(path);
      if (isRuleFolder && isWritableByOthers(stat)) found.writable.push(path);
      if (!agentFolders.has(name) || (stat.mode & S_IFMT) !== S_IFDIR || !mayHoldAgents(entry)) continue;
      agentFolders.add(path);
      places.add(path);
    }
  }
  return found;
}

/**
 * Undefined: nothing is known to be missing. Some systems find `.Guild` as `.guild`, and fold other
 * letters by rules of their own.
 */
function comparable(names: readonly string[] | undefined): string[] | undefined {
  const text = names?.join('/');
  if (text === undefined || Buffer.byteLength(text) !== text.length) return undefined;
  return text.toLowerCase().split('/');
}

/** Undefined if the folder cannot be listed. */
function namesIn(folder: string): string[] | undefined {
  return attempt(() => fs.readdirSync(folder));
}

function isFolder(link: string): boolean {
  return fs.statSync(link, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The user id of the folder's owner; undefined where the system has none. */
export function ownerOf(folder: string): number | undefined {
  return process.getuid === undefined ? undefined : fs.statSync(folder).uid;
}

function ownerProblem(root: string, uid: number | undefined): Problem {
  return problem(
    'not_allowed',
    `${root} belongs to another user (uid ${uid}), who could change its rules at any time`,
    {
      hint: `if you trust that user, for example in a CI checkout: guild trust --owner --workspace ${root}`,
    },
  );
}

function linkProblem(file: string): Problem {
  return problem('not_allowed', `${file} is a link, so records would be written outside the workspace`, {
    where: { file },
    hint: 'replace it with a real file or folder; to keep everything elsewhere, move the whole workspace',
  });
}

function writableProblem(root: string, writable: readonly string[]): Problem[] {
  if (process.getuid === undefined || writable.length === 0) return [];
  const [first, ...others] = writable.map((file) => (file === '.' ? root : file));
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return [
    problem('not_allowed', `${first}${more} can be written by other users, who could then change rules and answers`, {
      where: { file: first! },
      hint: `chmod -R go-w ${root}`,
    }),
  ];
}

/**
 * A sticky folder such as /tmp lets others add entries but not replace them. That is not enough for
 * folders of rules.
 */
function isWritableByOthers(stat: fs.Stats | undefined): boolean {
  return stat !== undefined && !isLink(stat) && (stat.mode & 0o022) !== 0;
}

function isLink({ mode }: fs.Stats): boolean {
  return (mode & S_IFMT) === S_IFLNK;
}

function lstat(file: string): fs.Stats | undefined {
  return attempt(() => fs.lstatSync(file, { throwIfNoEntry: false }));
}
