/**
 * Who else can write the rules of a workspace. A folder of another user, rules that a group or
 * everybody can write, and state folders that are links are refused: somebody else could decide
 * there.
 */
import fs from 'node:fs';
import path from 'node:path';
import { FOREIGN_AGENT_FOLDERS } from '../../domain/agent/places.js';
import { problem, type Problem } from '../../domain/problem.js';

/** Paths whose owner and rights are checked. `/*` also checks every entry of the folder. */
const RULES = [
  '.',
  'guild.yaml',
  'storage',
  'storage/*',
  'agents',
  'agents/*',
  'templates',
  'templates/*',
  '.mcp.json',
  ...FOREIGN_AGENT_FOLDERS.flatMap((folder) => [folder, `${folder}/*`]),
  'plugins',
  'plugins/*',
  'tasks',
  'tasks/*',
  'sessions',
  '.guild',
];

/** Records are written here; a link would lead them elsewhere. */
const STATE_FOLDERS = ['tasks', 'sessions', 'events', 'results', 'bus', 'storage', 'inbox', 'quarantine', '.guild'];

/** `owner`: another user whom the person has accepted. */
export function rightsProblems(root: string, owner?: number): Problem[] {
  return [...ownerProblem(root, owner), ...linkProblems(root), ...writableProblem(root)];
}

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

function linkProblems(root: string): Problem[] {
  const links = STATE_FOLDERS.filter((name) => lstat(path.join(root, name))?.isSymbolicLink());
  return links.map((file) =>
    problem('not_allowed', `${file} is a link, so records would be written outside the workspace`, {
      where: { file },
      hint: 'replace it with a real folder; to keep everything elsewhere, move the whole workspace',
    }),
  );
}

function writableProblem(root: string): Problem[] {
  if (process.getuid === undefined) return [];
  const found = RULES.flatMap((rule) => (rule.endsWith('/*') ? entries(root, rule.slice(0, -2)) : [rule])).filter(
    (file) => isWritableByOthers(path.join(root, file)),
  );
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

function entries(root: string, folder: string): string[] {
  try {
    return fs.readdirSync(path.join(root, folder)).map((name) => `${folder}/${name}`);
  } catch {
    return [];
  }
}

/**
 * A sticky folder such as /tmp lets others add entries but not replace them. That is not enough for
 * folders of rules.
 */
function isWritableByOthers(file: string): boolean {
  const stat = lstat(file);
  return stat !== undefined && !stat.isSymbolicLink() && (stat.mode & 0o022) !== 0;
}

function lstat(file: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
