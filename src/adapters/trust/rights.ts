/**
 * Who else can write the rules of a workspace. A folder of another user, rules that a group or
 * everybody can write, and state folders that are links are refused: somebody else could decide
 * there.
 */
import fs from 'node:fs';
import { attempt } from '../../domain/attempt.js';
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

/** `root` is a real path. `owner`: another user whom the person has accepted. */
export function rightsProblems(root: string, owner?: number): Problem[] {
  const look = lookIn(root);
  return [...ownerProblem(root, look, owner), ...linkProblems(look), ...writableProblem(root, look)];
}

/** The entries of a workspace, each looked at once. */
interface Look {
  /** The entry itself, not what it links to. '.' is the root. */
  at(name: string): fs.Stats | undefined;
  /** The paths of the entries of a folder. */
  in(folder: string): string[];
  /** Whether a link leads to a folder. */
  isFolder(link: string): boolean;
}

/** Most of the paths are missing, and one list of the root tells which. */
function lookIn(root: string): Look {
  const top = comparable(namesIn(root));
  const isMissing = (name: string): boolean => top !== undefined && !top.includes(name.split('/', 1)[0]!);
  const seen = new Map<string, fs.Stats | undefined>();
  const at = (name: string): fs.Stats | undefined => {
    if (!seen.has(name)) seen.set(name, name !== '.' && isMissing(name) ? undefined : lstat(`${root}/${name}`));
    return seen.get(name);
  };
  const listed = new Map<string, string[]>();
  return {
    at,
    in(folder) {
      if (at(folder) === undefined) return [];
      let paths = listed.get(folder);
      if (paths === undefined)
        listed.set(folder, (paths = (namesIn(`${root}/${folder}`) ?? []).map((name) => `${folder}/${name}`)));
      return paths;
    },
    isFolder: (link) => fs.statSync(`${root}/${link}`, { throwIfNoEntry: false })?.isDirectory() === true,
  };
}

/**
 * Undefined: nothing is known to be missing. Some systems find `.Guild` as `.guild`, and fold other
 * letters by rules of their own.
 */
function comparable(names: readonly string[] | undefined): string[] | undefined {
  const isPlain = names?.every((name) => Buffer.byteLength(name) === name.length);
  return isPlain ? names!.map((name) => name.toLowerCase()) : undefined;
}

/** Undefined if the folder cannot be listed. */
function namesIn(folder: string): string[] | undefined {
  return attempt(() => fs.readdirSync(folder));
}

/** The user id of the folder's owner; undefined where the system has none. */
export function ownerOf(folder: string): number | undefined {
  return process.getuid === undefined ? undefined : fs.statSync(folder).uid;
}

function ownerProblem(root: string, look: Look, accepted: number | undefined): Problem[] {
  if (process.getuid === undefined) return [];
  const owner = look.at('.')?.uid;
  if (owner === process.getuid() || (owner !== undefined && owner === accepted)) return [];
  return [
    problem('not_allowed', `${root} belongs to another user (uid ${owner}), who could change its rules at any time`, {
      hint: `if you trust that user, for example in a CI checkout: guild trust --owner --workspace ${root}`,
    }),
  ];
}

/** Also for commands that only read or submit: they put broken files into quarantine. */
export function linkedState(root: string): Problem | undefined {
  return linkProblems(lookIn(root))[0];
}

function linkProblems(look: Look): Problem[] {
  const isLink = (name: string): boolean => look.at(name)?.isSymbolicLink() === true;
  const folder = STATE_FOLDERS.find(isLink);
  // Everything below a link is elsewhere, too.
  const links =
    folder !== undefined
      ? [folder]
      : [
          ...OWN.flatMap(look.in).filter(isLink),
          ...PARENTS.flatMap(look.in).filter((name) => isLink(name) && look.isFolder(name)),
        ];
  return links.map((file) =>
    problem('not_allowed', `${file} is a link, so records would be written outside the workspace`, {
      where: { file },
      hint: 'replace it with a real folder; to keep everything elsewhere, move the whole workspace',
    }),
  );
}

function writableProblem(root: string, look: Look): Problem[] {
  if (process.getuid === undefined) return [];
  const files = ['.', ...RULES, ...RULE_FOLDERS, ...RULE_FOLDERS.flatMap(look.in)];
  const found = files.filter((file) => isWritableByOthers(look.at(file)));
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

/**
 * A sticky folder such as /tmp lets others add entries but not replace them. That is not enough for
 * folders of rules.
 */
function isWritableByOthers(stat: fs.Stats | undefined): boolean {
  return stat !== undefined && !stat.isSymbolicLink() && (stat.mode & 0o022) !== 0;
}

function lstat(file: string): fs.Stats | undefined {
  return attempt(() => fs.lstatSync(file, { throwIfNoEntry: false }));
}
