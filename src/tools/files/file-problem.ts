/** Turns a folder's no into a problem that tells the model what to do instead. */
import type { WorkspaceFiles, FolderReply, PathUse } from '../../ports/workspace-files.js';
import { nearest } from '../core/nearest.js';
import type { ToolContext, ToolReply } from '../core/tool.js';

type No = Extract<FolderReply<never>, { ok: false }>;

export function fileProblem(no: No, use: PathUse, path: string, context: ToolContext): ToolReply {
  const code = no.code ?? 'tool_failed';
  return { kind: 'problem', code, message: `${no.reason}${adviceFor(code, use, path, context)}` };
}

function adviceFor(code: string, use: PathUse, path: string, { agent, folder }: ToolContext): string {
  if (code === 'not_found') return `; ${lookalikes(folder, agent.name, path) ?? 'list_directory shows what is there'}`;
  if (code === 'needs_human' && (use === 'write' || use === 'make_folder')) {
    return (
      `; writing it needs a human's approval, which this version cannot ask for yet:` +
      ` write under workspaces/${agent.name}/ instead`
    );
  }
  if (code === 'needs_human') {
    return "; reading it needs a human's approval, which this version cannot ask for yet: go on without it";
  }
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
  const near = nearest(
    path.slice(cut + 1),
    listed.value.map((entry) => entry.name),
  );
  return near.length === 0
    ? undefined
    : `did you mean ${near.map((name) => (cut < 0 ? name : `${path.slice(0, cut)}/${name}`)).join(' or ')}? list_directory shows all`;
}

function isFolder(folder: WorkspaceFiles, agent: string, path: string): boolean {
  return folder.judge(agent, 'list', path).verdict === 'ok' && folder.list(agent, path).ok;
}
