/**
 * Who else can write the rules of a workspace. A folder of another user, rules that a group or
 * everybody can write, and state folders that are links are refused: somebody else could decide
 * there.
 */
import fs from 'node:fs';
import { FOREIGN_AGENT_FOLDERS } from '../../domain/agent/places.js';
import { problem, type Problem } from '../../domain/problem.js';

/** Paths whose rights are checked; of the folders also every entry. */
const RULES = ['guild.yaml', '.mcp.json', 'sessions', '.guild'];
const RULE_FOLDERS = ['storage', 'agents', 'templates', ...FOREIGN_AGENT_FOLDERS, 'plugins', 'tasks'];

/** Everything in these is the program's own, so nothing in them is a link. */
const OWN = ['.guild', '.guild/cache', '.guild/history', '.guild/history.git'];
/** Folders of folders. A file in them is never written through a link. */
const PARENTS = ['tasks', 'storage', 'inbox', 'quarantine', 'bus'];
/** Records are written and removed here; a link would lead that elsewhere. */
const STATE_FOLDERS = [...PARENTS, 'sessions', 'events', 'results', 'agents/live', ...OWN];

/** `owner`: another user whom the person has accepted. */
export function rightsProblems(root: string, owner?: number): Problem[] {
  const entries = new Map<string, fs.Stats | undefined>();
  const look = (name: string): fs.Stats | undefined => {
    if (!entries.has(name)) entries.set(name, lstat(name === '.' ? root : `${root}/${name}`));
    return entries.get(name);
  };
  return [...ownerProblem(root, owner), ...linkProblems(root, look), ...writableProblem(root, look)];
}

/** An entry of the workspace, not what it links to. */
type Look = (name: string) => fs.Stats | undefined;

/** The user id of the folder's owner; undefined where the system has none. */
export function ownerOf(folder: string): number | undefined {
  return process.getuid === undefined ? undefined : fs.statSync(folder).uid;
}

function ownerProblem(root: string, accepted: number | undefined): Problem[] {
  const owner = ownerOf(root);
  if (owner === undefined || owner === process.getuid!() || owner === accepted) return [];
  return [
    problem('not_allowed', `${root} belongs to another user (uid ${owner}), who could change its rules at any time`, {
      hint: `if you trust that user, for example in a CI checkout: guild trust --owner --workspace ${root}`,
    }),
  ];
}

/** Also for commands that only read or submit: they put broken files into quarantine. */
export function linkedState(root: string): Problem | undefined {
  return linkProblems(root, (name) => lstat(`${root}/${name}`))[0];
}

function linkProblems(root: string, look: Look): Problem[] {
  const isLink = (name: string): boolean => look(name)?.isSymbolicLink() === true;
  const [folder] = STATE_FOLDERS.filter(isLink);
  // Below a link everything else is elsewhere, too.
  const links =
    folder !== undefined
      ? [folder]
      : [...OWN.flatMap((own) => linksIn(root, own)), ...PARENTS.flatMap((parent) => linksIn(root, parent, 'folders'))];
  return links.map((file) =>
    problem('not_allowed', `${file} is a link, so records would be written outside the workspace`, {
      where: { file },
      hint: 'replace it with a real folder; to keep everything elsewhere, move the whole workspace',
    }),
  );
}

/** The links in a folder, or those of them that lead to folders. */
function linksIn(root: string, folder: string, only?: 'folders'): string[] {
  const isWanted = (file: string): boolean =>
    only === undefined || fs.statSync(`${root}/${file}`, { throwIfNoEntry: false })?.isDirectory() === true;
  try {
    if (!fs.existsSync(`${root}/${folder}`)) return [];
    const entries = fs.readdirSync(`${root}/${folder}`, { withFileTypes: true });
    const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => `${folder}/${name}`);
    return links.filter(isWanted);
  } catch {
    return [];
  }
}

function writableProblem(root: string, look: Look): Problem[] {
  if (process.getuid === undefined) return [];
  // Most of the folders are missing, and an error costs more than a look.
  const inside = RULE_FOLDERS.flatMap((folder) => (look(folder) === undefined ? [] : entriesOf(root, folder)));
  const found = ['.', ...RULES, ...RULE_FOLDERS, ...inside].filter((file) => isWritableByOthers(look(file)));
  if (found.length === 0) return [];
  const [first, ...others] = found.map((file) => (file === '.' ? root : file));
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return [
    problem('not_allowed', `${first}${more} can be written by other users, who could then change rules and answers`, {
      where: { file: first! },
      hint: `chmod -R go-w ${root}`,
    }),
  ];
}

function entriesOf(root: string, folder: string): string[] {
  try {
    return fs.readdirSync(`${root}/${folder}`).map((name) => `${folder}/${name}`);
  } catch {
    return [];
  }
}

/**
 * A sticky folder such as /tmp lets others add entries but not replace them. That is not enough for
 * folders of rules.
 */
function isWritableByOthers(stat: fs.Stats | undefined): boolean {
  return stat !== undefined && !stat.isSymbolicLink() && (stat.mode & 0o022) !== 0;
}

function lstat(file: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
