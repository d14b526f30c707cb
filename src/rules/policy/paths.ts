/**
 * What an agent's file tools may touch. Pure: it judges a path that was already resolved (every link followed, relative to
 * the workspace, `/` between parts) and, before that, how a path is spelled. The adapter that opens files asks here.
 *
 * Names are protected, not files: a rule holds whether or not something lies there yet. A name is compared folded
 * (case, width, accents, invisible characters, encodings), because some file systems, tools and eyes fold it too.
 */
import { isSafeId } from '../../domain/task/id.js';
import { foldedParts, hasControl } from './normalize-path.js';

export { judgeSpelling } from './normalize-path.js';

export type Verdict = 'ok' | 'ask' | 'refuse';
interface Judged {
  verdict: Verdict;
  reason: string;
}

/** What lies at the path: `twin` is a regular file with a second name (a hard link) somewhere, `other` a FIFO, socket or device. */
export type PathKind = 'file' | 'twin' | 'folder' | 'other' | 'missing';

export interface PathQuestion {
  agent: string;
  use: 'read' | 'write' | 'list' | 'make_folder';
  /** Relative to the workspace; empty for the workspace itself. Not looked at when `outside`. */
  path: string;
  kind: PathKind;
  outside?: boolean;
}

const USES = new Map<string, PathQuestion['use']>([
  ['read_file', 'read'],
  ['write_file', 'write'],
  ['list_directory', 'list'],
  ['create_directory', 'make_folder'],
  ['search_files', 'list'],
]);

/** What a tool does with its path; undefined if it is no file tool. The short words are for people at a terminal. */
export function useOfTool(tool: string): PathQuestion['use'] | undefined {
  return USES.get(tool) ?? [...USES.values()].find((use) => use === tool);
}

export function judgePath(question: PathQuestion): Judged {
  if (question.outside) return refuse('it lies outside the workspace');
  if (hasControl(question.path)) return refuse('its name holds a control character');
  const parts = question.path.split('/').filter((part) => part !== '');
  if (parts.includes('..')) return refuse('it lies outside the workspace');
  const folded = foldedParts(question.path);
  if (folded === undefined) return refuse('its name reads like a path out of the workspace');
  // As it is written and as it reads: a name like `..\\..` may fold its folder away, and the folder counts all the same.
  const either = [...folded, ...parts.map((part) => part.toLowerCase())];
  if (either.some(isPrivate)) return refuse('.guild is private to the program');
  const wrong = wrongKind(question);
  if (wrong) return wrong;
  return question.use === 'read' || question.use === 'list'
    ? judgeRead(question, folded)
    : judgeWrite(question, parts, folded, either);
}

function judgeRead(question: PathQuestion, folded: string[]): Judged {
  if (isSecret(folded)) return ask('it may hold a secret');
  const first = folded[0] ?? '';
  // Plain case is let through: a person may well have a folder Events of their own, and reading one is harmless.
  if (PROTECTED.has(first) && question.path.split('/')[0]!.toLowerCase() !== first) {
    return ask(`its name only looks like ${first}`);
  }
  if (question.kind === 'twin') return ask('it has a second name (a hard link) that may lie outside the workspace');
  return ok('inside the workspace');
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
  if (question.kind === 'twin')
    return refuse('it has a second name (a hard link), so more than this file would change');
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

/** First parts that file tools never write, and what is made for it instead. */
const PROTECTED = new Map([
  ['agents', 'new agents are asked for with create_agent'],
  ['templates', 'agent templates are changed by people'],
  ['.claude', 'agent files are changed by people'],
  ['plugins', 'plugins are changed by people'],
  ['storage', 'policy and settings are changed by people'],
  ['guild.yaml', 'settings are changed by people'],
  ['guild.yml', 'settings are changed by people'],
  ['tasks', 'use create_task or update_task'],
  ['sessions', 'use send_message, or edit_session where it is granted'],
  ['inbox', 'use send_message'],
  ['events', 'history is written by the program only'],
  ['bus', 'use broadcast'],
]);

function isHome(part: string | undefined): boolean {
  return part === 'workspaces' || part === 'scratch';
}

/** `git~1` is what Windows calls `.git` in eight letters. */
function isGit(part: string): boolean {
  return part === '.git' || /^git~\d+$/.test(part);
}

function isPrivate(part: string): boolean {
  return part === '.guild' || /^guild~\d+$/.test(part);
}

const SECRET_FOLDERS = new Set(['secrets', '.ssh', '.aws', '.gnupg', '.gcloud', '.azure', '.kube']);
const SECRET_FILES = new Set(['.netrc', '_netrc', '.npmrc', '.pypirc', '.pgpass', '.git-credentials', '.htpasswd']);
const KEY_ENDS = /\.(pem|key|p8|p12|pfx|pk8|ppk|jks|keystore|kdbx)(\.(bak|old|orig|save|\d+)|~)*$/;
const KEY_NAME = /^(ssh_host_[a-z0-9]+_key|id_(rsa|dsa|ecdsa|ed25519|xmss)(_sk)?)/;

/** Takes folded parts. Public halves of keys are no secret. */
function isSecret(folded: string[]): boolean {
  const last = folded.at(-1) ?? '';
  const path = folded.join('/');
  return (
    folded.some((part) => part.startsWith('.env') || SECRET_FOLDERS.has(part)) ||
    SECRET_FILES.has(last) ||
    KEY_ENDS.test(last) ||
    (KEY_NAME.test(last) && !last.endsWith('.pub')) ||
    /(^|\/)\.docker\/config\.json$/.test(path) ||
    /(^|\/)\.config\/(gh|gcloud)(\/|$)/.test(path)
  );
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
