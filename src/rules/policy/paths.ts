/**
 * Decides which paths an agent's file tools may touch. The path is already resolved: every link
 * followed, relative to the workspace. Rules protect names, whether or not a file exists there.
 * Names are compared folded (case, width, accents, invisible characters, encodings), as some file
 * systems do.
 */
import { isSafeId } from '../../domain/task/id.js';
import { foldedParts, hasControl } from './names/normalize-path.js';
import { isSecretName } from './names/secret-names.js';

export { judgeSpelling } from './names/normalize-path.js';

type Verdict = 'ok' | 'ask' | 'refuse';
interface Judged {
  verdict: Verdict;
  reason: string;
}

/** `twin`: a regular file with another name (a hard link); `other`: a FIFO, socket or device. */
type PathKind = 'file' | 'twin' | 'folder' | 'other' | 'missing';

interface PathQuestion {
  agent: string;
  use: 'read' | 'write' | 'list' | 'make_folder';
  /** Relative to the workspace; empty for the workspace itself. Ignored if `outside`. */
  path: string;
  kind: PathKind;
  outside?: boolean;
}

const USES = new Map<string, PathQuestion['use']>([
  ['read_file', 'read'],
  ['get_file_info', 'read'],
  ['write_file', 'write'],
  ['list_directory', 'list'],
  ['create_directory', 'make_folder'],
  ['search_files', 'list'],
]);

/**
 * How a tool uses its path; undefined if it is not a file tool. People may also name the use
 * itself.
 */
export function useOfTool(tool: string): PathQuestion['use'] | undefined {
  return USES.get(tool) ?? [...USES.values()].find((use) => use === tool);
}

export function judgePath(question: PathQuestion): Judged {
  if (question.outside) return refuse('it is outside the workspace');
  if (hasControl(question.path)) return refuse('its name contains a control character');
  const parts = question.path.split('/').filter((part) => part !== '');
  if (parts.includes('..')) return refuse('it is outside the workspace');
  const folded = foldedParts(question.path);
  if (folded === undefined) return refuse('its name reads like a path out of the workspace');
  // Check both spellings: folding a name like `..\\..` can remove a protected folder from the path.
  const either = [...folded, ...parts.map((part) => part.toLowerCase())];
  if (either.some(isPrivate)) return refuse('.guild is private to the program');
  const mismatch = wrongKind(question);
  if (mismatch) return mismatch;
  return question.use === 'read' || question.use === 'list'
    ? judgeRead(question, folded)
    : judgeWrite(question, parts, folded, either);
}

function judgeRead(question: PathQuestion, folded: string[]): Judged {
  if (isSecretName(folded)) return ask('it may contain a secret');
  const first = folded[0] ?? '';
  if (first === 'sessions' && question.use === 'read' && !isOwnSession(folded[1], question.agent))
    return ask("it is another agent's conversation");
  // A difference only in case is allowed: a person may have a folder Events, and reading it is
  // harmless.
  if (PROTECTED.has(first) && question.path.split('/')[0]!.toLowerCase() !== first) {
    return ask(`its name only looks like ${first}`);
  }
  if (question.kind === 'twin') return ask('it has another name (a hard link) that may be outside the workspace');
  return ok('inside the workspace');
}

/** Conversations are named after their agent. */
function isOwnSession(name: string | undefined, agent: string): boolean {
  const own = agent.toLowerCase();
  return name === `${own}.session.yaml` || name?.startsWith(`${own}-`) === true;
}

function judgeWrite(question: PathQuestion, parts: string[], folded: string[], either: string[]): Judged {
  if (either.some(isGit)) return refuse('.git is written by Git only');
  const first = folded[0];
  if (first === undefined) return refuse('it is the workspace itself');
  const instead = PROTECTED.get(first) ?? PROTECTED.get(either[folded.length] ?? '');
  if (instead !== undefined) {
    return refuse(
      parts[0] === first
        ? `${first} is not written by file tools: ${instead}`
        : `its name only looks like ${first}, which is protected`,
    );
  }
  if (first === '.github' && folded[1] === 'agents') return refuse('only people change agent files');
  if (question.kind === 'twin') return refuse('it has another name (a hard link), so more than this file would change');
  return judgeOwn(question, parts, folded);
}

function judgeOwn(question: PathQuestion, parts: string[], folded: string[]): Judged {
  const [home, owner] = parts;
  const own = isSafeId(question.agent) && (home === 'workspaces' || home === 'scratch') && owner === question.agent;
  if (own && (parts.length > 2 || question.use === 'make_folder')) return ok("the agent's own folder");
  if (own) return refuse("it is the agent's own folder itself");
  if (isHome(folded[0]) && folded[1] !== undefined) {
    return isHome(home) && folded[1] !== question.agent.toLowerCase()
      ? ask("it is another agent's folder")
      : refuse("its name only looks like the agent's own folder");
  }
  return ask("it is outside the agent's own folder");
}

function wrongKind({ use, kind }: PathQuestion): Judged | undefined {
  if (kind === 'other') return refuse('it is not a regular file (a pipe, socket or device)');
  if ((use === 'read' || use === 'write') && kind === 'folder') return refuse('it is a folder, not a file');
  if ((use === 'list' || use === 'make_folder') && (kind === 'file' || kind === 'twin')) {
    return refuse('it is a file, not a folder');
  }
  return undefined;
}

/** Top-level names that file tools never write, and what to use instead. */
export const PROTECTED: ReadonlyMap<string, string> = new Map([
  ['agents', 'use create_agent to request a new agent'],
  ['templates', 'only people change agent templates'],
  ['.agents', 'only people change agent files and skills'],
  ['.claude', 'only people change agent files and skills'],
  ['.gemini', 'only people change agent files'],
  ['.opencode', 'only people change agent files'],
  ['.mcp.json', 'only people choose the MCP servers'],
  ['plugins', 'only people change plugins'],
  ['storage', 'only people change policy and settings'],
  ['guild.yaml', 'only people change settings'],
  ['guild.yml', 'only people change settings'],
  ['tasks', 'use create_task or update_task'],
  ['sessions', 'use send_message, or edit_session if you have it'],
  ['inbox', 'use send_message'],
  ['events', 'only the program writes history'],
  ['bus', 'use broadcast'],
]);

function isHome(part: string | undefined): boolean {
  return part === 'workspaces' || part === 'scratch';
}

/** `git~1` is the short (8.3) name of `.git` on Windows. */
function isGit(part: string): boolean {
  return part === '.git' || /^git~\d+$/.test(part);
}

function isPrivate(part: string): boolean {
  return part === '.guild' || /^guild~\d+$/.test(part);
}

function ok(reason: string): Judged {
  return { verdict: 'ok', reason };
}
function ask(reason: string): Judged {
  return { verdict: 'ask', reason };
}
function refuse(reason: string): Judged {
  return { verdict: 'refuse', reason };
}
