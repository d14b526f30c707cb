/**
 * The outside sources of what an agent reads: of a tool that fetches, of files and conversations
 * that a tool shows, and of what a task starts with.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { ToolCall } from '../../domain/session/session.js';
import { roleFacts } from '../../domain/task/role.js';
import { taintIn } from '../../domain/task/taint.js';
import type { Task } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';
import { projectFile } from '../core/project-text.js';
import { attachmentsOf } from '../tasks/attachments.js';

/** The taint of a conversation. */
type OfSession = (session: string) => Promise<Iterable<string>>;

/** The outside sources of a result: of the tool itself, or of the files that it shows. */
export async function sourcesOf(
  context: EngineContext,
  agent: string,
  call: ToolCall,
  content: string,
  ofSession: OfSession,
): Promise<Iterable<string>> {
  const tool = context.tools.get(call.name);
  if (tool?.outside) return [`${tool.plugin ?? 'web'}/${tool.name}`];
  const { path, session, command } = call.arguments;
  const of = (paths: readonly string[]): Promise<string[]> => fileSources(context, agent, call.name, paths, ofSession);
  if (call.name === 'read_file' && typeof path === 'string')
    return [...(await of([path])), ...influencedBullets(content)];
  if (call.name === 'search_files') return of(pathsIn(content));
  if (call.name === 'read_session' && typeof session === 'string') return ofSession(session);
  if (call.name === 'execute_command' && typeof command === 'string')
    return [...(await of(filesIn(command, agent))), ...influencedBullets(content)];
  return [];
}

/**
 * The sources of a task's first message: its own, the results that it depends on, the files that
 * come with it and the project's instructions. Later tasks of the conversation read the message
 * too, so it carries them all.
 */
export async function openingTaint(
  context: EngineContext,
  agent: Agent,
  task: Task,
  ofSession: OfSession,
): Promise<string[]> {
  const sources = new Set(taintIn(task));
  const asker = roleFacts(task.role).isOwnWork && task.parent ? await context.tasks.read(task.parent) : undefined;
  for (const id of (asker?.task ?? task).dependencies ?? [])
    for (const source of await taintOfTask(context, id)) sources.add(source);
  // Most workspaces have no file from outside; then the instructions need not be checked.
  const project = context.fileTaint.below('').length === 0 ? undefined : projectFile(context, agent, task);
  const files = [...(await attachmentsOf(context, task)), ...(project === undefined ? [] : [project])];
  for (const source of await fileSources(context, agent.name, 'attachment', files, ofSession)) sources.add(source);
  return [...sources];
}

async function fileSources(
  context: EngineContext,
  agent: string,
  tool: string,
  paths: readonly string[],
  ofSession: OfSession,
): Promise<string[]> {
  const sources: string[] = [];
  for (const path of paths) {
    // Links and spellings must not hide where a file is.
    const place = context.workspaceFiles.judge(agent, 'read', path).path ?? path;
    if (path.endsWith('/')) sources.push(...folderSources(context, agent, tool, place));
    else if (isInbox(place)) sources.push(`inbox/${tool}`);
    const [, session] = /^sessions\/(.+)\.session\.yaml$/.exec(place) ?? [];
    const [, record] = /^(?:results|tasks\/[a-z]+)\/([^/]+)\.(?:md|json)$/.exec(place) ?? [];
    if (session !== undefined) sources.push(...(await ofSession(session)));
    else if (record !== undefined) sources.push(...(await taintOfTask(context, record)));
    else sources.push(...context.fileTaint.of(path));
  }
  return [...new Set(sources)];
}

/** The sources of a folder whose files may be shown. */
function folderSources(context: EngineContext, agent: string, tool: string, folder: string): string[] {
  const list = context.workspaceFiles.list(agent, folder === '' ? '.' : folder);
  if (!list.ok) return [];
  const hasMail = isInbox(folder) || (folder === '' && list.value.some(({ name }) => isInbox(name)));
  return [...(hasMail ? [`inbox/${tool}`] : []), ...context.fileTaint.below(folder)];
}

function isInbox(place: string): boolean {
  return /^inbox(?:\/|$)/i.test(place);
}

const MAX_PATHS = 50;

/** Bullets of a board that agents changed name the sources that influenced those agents. */
function influencedBullets(content: string): string[] {
  const fields = content.matchAll(/^\s*influenced_by: "?([^"\n]+)/gm);
  return [...fields].flatMap(([, sources]) => sources!.split(',').map((source) => source.trim()));
}

/** `path:line: text`, as search_files prints it. */
function pathsIn(content: string): string[] {
  const paths = content.split('\n').flatMap((line) => /^([^\n:]+):\d+: /.exec(line)?.[1] ?? []);
  return [...new Set(paths)].slice(0, MAX_PATHS);
}

/** Commands that print names, counts or their own words, never the content of files. */
const LISTING = new Set('ls find wc pwd echo date ps docker podman cd true'.split(' '));

/**
 * Any word of a command may name a file that it shows, or a folder whose files it shows. Git shows
 * the agent's own folder, and a recursive search without a folder shows the workspace.
 */
function filesIn(command: string, agent: string): string[] {
  const files = command.split(/[;|&\n]+/).flatMap((part) => {
    const [name = '', ...words] = part.split(/[\s'"<>=]+/).filter((word) => word !== '');
    const named = words.filter((word) => !word.startsWith('-'));
    if (name === 'git') named.push(`workspaces/${agent}/`);
    if (name === 'grep' && named.length < 2 && words.some((word) => /^-\w*[rR]|^--(?:dereference-)?rec/.test(word)))
      named.push('./');
    return LISTING.has(name) ? named : named.flatMap((word) => [word, `${word.replace(/\/+$/, '')}/`]);
  });
  return [...new Set(files)].slice(0, 2 * MAX_PATHS);
}

async function taintOfTask(context: EngineContext, id: string): Promise<string[]> {
  const placed = await context.tasks.read(id);
  return placed === undefined ? [] : taintIn(placed.task);
}
