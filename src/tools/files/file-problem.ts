/** Turns a refused file access into a problem that tells the model what to do instead. */
import { nearestFew } from '../../domain/nearest.js';
import type { FolderReply, PathUse, WorkspaceFiles } from '../../ports/workspace-files.js';
import { toolProblem } from '../core/define-tool.js';
import type { ToolContext, ToolReply } from '../core/tool.js';

type Refusal = Extract<FolderReply<never>, { ok: false }>;

export function fileProblem(refusal: Refusal, use: PathUse, path: string, context: ToolContext): ToolReply {
  const code = refusal.code ?? 'tool_failed';
  return toolProblem(code, `${refusal.reason}${adviceFor(code, use, path, context)}`);
}

function adviceFor(code: string, use: PathUse, path: string, { agent, folder }: ToolContext): string {
  if (code === 'not_found') return `; ${lookalikes(folder, agent.name, path) ?? 'list_directory shows what is there'}`;
  if (code === 'needs_human' && (use === 'write' || use === 'make_folder'))
    return `; writing it needs a human's approval: write under workspaces/${agent.name}/ instead`;
  if (code === 'needs_human') return "; reading it needs a human's approval: continue without it";
  if (code === 'not_allowed' && use === 'read' && isFolder(folder, agent.name, path))
    return ': list_directory shows what is in it';
  return '';
}

/** Names in the same folder that the model may have meant. */
function lookalikes(folder: WorkspaceFiles, agent: string, path: string): string | undefined {
  const cut = path.replace(/\/+$/, '').lastIndexOf('/');
  const parent = cut < 0 ? '.' : path.slice(0, cut) || '/';
  const listed = folder.list(agent, parent);
  if (!listed.ok) return undefined;
  const names = listed.value.map(({ name }) => name);
  const near = similarNames(path.slice(cut + 1), names).map((name) =>
    cut < 0 ? name : `${path.slice(0, cut)}/${name}`,
  );
  return near.length === 0 ? undefined : `did you mean ${near.join(' or ')}? list_directory shows all`;
}

const MAX_SIMILAR = 3;

/** Names with another extension also count, however long it is. */
function similarNames(wanted: string, names: readonly string[]): string[] {
  const stem = wanted.toLowerCase().replace(/\.[a-z0-9]+$/, '');
  const sameStem = stem.length < 3 ? [] : names.filter((name) => name.toLowerCase().startsWith(stem));
  return [...new Set([...nearestFew(wanted, names, MAX_SIMILAR), ...sameStem])].slice(0, MAX_SIMILAR);
}

function isFolder(folder: WorkspaceFiles, agent: string, path: string): boolean {
  return folder.judge(agent, 'list', path).verdict === 'ok' && folder.list(agent, path).ok;
}
