/**
 * Finds out who else can write the rules of a workspace. A folder of another user, rules that a
 * group or everybody can write, and state folders that are links are refused, because somebody else
 * could then decide.
 */
import fs from 'node:fs';
import { FOREIGN_AGENT_FOLDERS, mayHoldAgents } from '../../domain/agent/places.js';
import { attempt } from '../../domain/attempt.js';
import { problem, type Problem } from '../../domain/problem.js';

const { S_IFMT, S_IFLNK, S_IFREG, S_IFDIR } = fs.constants;
const QUIET = { throwIfNoEntry: false } as const;

/** Nobody else may write it. */
const RULE = 1;
/** Nobody else may write its entries. */
const RULES = 2;
/** Agents may be in folders below it, to which the same applies. */
const AGENTS = 4;
/** Records are written and removed there; a link would redirect that. */
const STATE = 8;
/** Everything in it is the program's own, so nothing in it is a link, a pipe or a device. */
const OWN = 16;
/** A folder of folders. A file in it is never written through a link. */
const PARENT = 32;

const HISTORY = '.guild/history.git';
/** Git writes through links to references and their logs, and into linked folders of objects. */
const GIT_FOLDERS = ['objects', 'refs', 'refs/heads', 'logs', 'logs/refs', 'logs/refs/heads'];
/** Parents come first. */
const PLACES: Readonly<Record<string, number>> = {
  'guild.yaml': RULE,
  '.mcp.json': RULE,
  sessions: RULE + STATE,
  '.guild': RULE + STATE + OWN,
  storage: RULE + RULES + STATE + PARENT,
  agents: RULE + RULES + AGENTS + STATE,
  templates: RULE + RULES + AGENTS,
  ...Object.fromEntries(FOREIGN_AGENT_FOLDERS.map((folder) => [folder, RULE + RULES + AGENTS])),
  plugins: RULE + RULES,
  tasks: RULE + RULES + STATE + PARENT,
  inbox: STATE + PARENT,
  quarantine: STATE + PARENT,
  bus: STATE + PARENT,
  events: STATE,
  results: STATE,
  'agents/live': STATE,
  '.guild/cache': STATE + OWN,
  '.guild/history': STATE + OWN,
  [HISTORY]: STATE + OWN,
  ...Object.fromEntries(GIT_FOLDERS.map((name) => [`${HISTORY}/${name}`, STATE + OWN])),
};

/** `root` is a real path. `owner`: another user whom the person has accepted. */
export function rightsProblems(root: string, owner?: number): Problem[] {
  const { links, writable, uid } = look(root);
  const isOwn = process.getuid === undefined || uid === process.getuid() || (uid !== undefined && uid === owner);
  if (isOwn && links.length + writable.length === 0) return [];
  return [
    ...(isOwn ? [] : [ownerProblem(root, uid)]),
    ...links.map((name) => linkProblem(root, name)),
    ...writableProblem(root, writable),
  ];
}

/** Also for commands that only read or submit, because they quarantine broken files. */
export function linkedState(root: string): Problem | undefined {
  const [link] = look(root, STATE + OWN + PARENT).links;
  return link === undefined ? undefined : linkProblem(root, link);
}

interface Found {
  /** Links where records would be written, and pipes and devices where they would be read. */
  links: string[];
  /** Rules that other users can write; '.' is the root. */
  writable: string[];
  /** The owner of the root. */
  uid?: number | undefined;
}

/** Runs at the start of every command, so few system calls and little code matter here. */
function look(root: string, wanted = -1): Found {
  const stat = lstat(root);
  const found: Found = { links: [], writable: isWritableByOthers(stat) ? ['.'] : [], uid: stat?.uid };
  const missing = new Set<string>();
  for (const name in PLACES) {
    const kind = PLACES[name]! & wanted;
    if (kind === 0) continue;
    const parent = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    if (missing.has(parent) || !lookAt(root, name, kind, found)) missing.add(name);
    // Everything below a link is outside the workspace, so the search stops there.
    else if (found.links.includes(name)) return { ...found, links: [name] };
  }
  return found;
}

/** Returns false if the entry does not exist. */
function lookAt(root: string, name: string, kind: number, found: Found): boolean {
  const stat = lstat(`${root}/${name}`);
  if (stat === undefined) return false;
  if (kind & RULE && isWritableByOthers(stat)) found.writable.push(name);
  if (kind & STATE && isLink(stat)) found.links.push(name);
  else if (kind & (RULES + OWN + PARENT)) lookInto(root, name, kind, found);
  return true;
}

function lookInto(root: string, folder: string, kind: number, found: Found): void {
  for (const entry of entriesOf(`${root}/${folder}`)) {
    const name = `${folder}/${entry}`;
    // A list with types would cost a new process more than a look at each of a few entries.
    const stat = lstat(`${root}/${name}`);
    const type = (stat?.mode ?? S_IFREG) & S_IFMT;
    if (kind & OWN && type !== S_IFREG && type !== S_IFDIR) found.links.push(name);
    if (kind & PARENT && type === S_IFLNK && isFolder(`${root}/${name}`)) found.links.push(name);
    if (kind & RULES && isWritableByOthers(stat)) found.writable.push(name);
    if (kind & AGENTS && type === S_IFDIR && mayHoldAgents(entry)) lookInto(root, name, kind, found);
  }
}

/** Empty if the folder cannot be listed. */
function entriesOf(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

function isFolder(link: string): boolean {
  // A link may lead back to itself.
  return attempt(() => fs.statSync(link).isDirectory(), false);
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

function linkProblem(root: string, file: string): Problem {
  const stat = lstat(`${root}/${file}`);
  const what =
    stat !== undefined && !isLink(stat)
      ? 'neither a file nor a folder, so reading it might never end'
      : 'a link, so records would be written outside the workspace';
  return problem('not_allowed', `${file} is ${what}`, {
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
  try {
    return fs.lstatSync(file, QUIET);
  } catch {
    return undefined;
  }
}
