/** The words around a request: the agent's own, and the text from outside. */
import path from 'node:path';
import { visible } from '../../domain/consent/visible.js';
import { defined } from '../../domain/defined.js';
import { problem, ProblemError } from '../../domain/problem.js';
import type { Message } from '../../domain/session/session.js';
import type { Placed } from '../../domain/task/task.js';
import { summary } from '../../views/summary.js';
import type { OwnRequests } from '../../app/approvals.js';
import { openReader } from '../../app/readers/open-reader.js';
import type { RequestSource } from '../base/contract.js';
import { textOf } from './session.js';

const PARENTS_MAX = 50;
const TEXT_MAX = 4000;

export async function requestSource(root: string, id: string, own: OwnRequests): Promise<RequestSource> {
  const store = openReader(root);
  try {
    const placed = await store.tasks.read(id);
    const request = placed && own(placed.task)?.request;
    if (placed === undefined) throw new ProblemError(problem('not_found', `there is no request ${id}`));
    if (request === undefined) return { untrusted: [], attached: [] };
    const opened = await store.sessions.open(request.session);
    const messages = opened.kind === 'open' ? opened.session.messages : [];
    const asked = messages.findIndex(({ toolCalls }) => toolCalls?.some((call) => call.id === request.call));
    const said = messages[asked]?.content.trim();
    const sources = new Set(request.taint);
    const asker = placed.task.parent === undefined ? undefined : await store.tasks.read(placed.task.parent);
    return defined({
      ...onBoard(root, id),
      attached: (asker?.task.attachments ?? []).map(visible),
      said: said === undefined || said === '' ? undefined : cut(said),
      turn: asked < 0 ? undefined : messages.slice(0, asked + 1).filter(({ role }) => role === 'assistant').length,
      untrusted: [...(await fromLineage(store, placed, sources)), ...fromResults(messages, sources, request.session)],
    });
  } finally {
    await store.close();
  }
}

/** The entry of a request on the board of approvals. A person may have taken it away. */
function onBoard(root: string, id: string): Pick<RequestSource, 'line' | 'fate'> {
  const lines = textOf(path.join(root, 'tasks', 'approvals.task.md')).split('\n');
  const named = lines.indexOf(`  id: ${id}`);
  const start = lines.findLastIndex((line, i) => i < named && line.startsWith('- ['));
  if (start === -1) return {};
  const end = lines.findIndex((line, i) => i > named && /^\S/.test(line));
  const fate = lines.slice(named, end === -1 ? undefined : end).find((line) => line.startsWith('  fate: '));
  return defined({ line: start + 1, fate: fate && visible(fate.slice('  fate: '.length)) });
}

type Untrusted = RequestSource['untrusted'];

/** Finds the message from outside, which is the request of an ancestor task. */
async function fromLineage(
  store: ReturnType<typeof openReader>,
  placed: Placed,
  sources: ReadonlySet<string>,
): Promise<Untrusted> {
  const found: Untrusted = [];
  const seen = new Set<string>();
  for (let at = placed.task.parent; at !== undefined && !seen.has(at) && seen.size < PARENTS_MAX;) {
    seen.add(at);
    const above = await store.tasks.read(at);
    if (above === undefined) break;
    const { task } = above;
    const source = task.from ?? '';
    if (sources.has(source) || [...sources].some((each) => each.endsWith(`/${source}`)))
      found.unshift({ source, text: cut(summary(task)), at: task.created_at, link: { page: 'task', id: task.id } });
    at = task.parent;
  }
  return found;
}

/** `web/web_search`: results of the tool web_search in this conversation. */
function fromResults(messages: readonly Message[], sources: ReadonlySet<string>, session: string): Untrusted {
  return messages.flatMap(({ role, name, content, timestamp }) => {
    const source = role === 'tool' ? [...sources].find((each) => each.endsWith(`/${name ?? ''}`)) : undefined;
    if (source === undefined) return [];
    const at = timestamp === undefined ? {} : { at: timestamp };
    return [{ source, text: cut(content), ...at, link: { page: 'conversation' as const, id: session } }];
  });
}

function cut(text: string): string {
  const shown = visible(text);
  return shown.length > TEXT_MAX ? `${shown.slice(0, TEXT_MAX)}… (${shown.length - TEXT_MAX} more characters)` : shown;
}
