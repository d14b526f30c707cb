/**
 * Journals of versions before 2: one JSON value per line, with the whole text of a conversation,
 * the end of a task or a result page, and lines that say which files are durable.
 */
import { defined } from '../../../domain/defined.js';
import type { EndedState } from '../../../domain/task/task.js';
import { pageKey, sessionKey, taskKey, type Step } from './step.js';

type OldLine =
  | { id: string; session: string; text: string }
  | { id: string; state: EndedState; text: string; of?: string }
  | { id: string; page: string; text: string; was?: string }
  | { there: string[] };

export function oldSteps(text: string): Step[] {
  return text.split('\n').flatMap((line) => {
    const parsed = parseLine(line);
    return parsed === undefined ? [] : [stepOf(parsed)];
  });
}

function stepOf(line: OldLine): Step {
  if ('there' in line) return { dropped: line.there.map(keyOf) };
  if ('session' in line) {
    // Each line has the whole text, so it replaces the lines before it.
    return { dropped: [sessionKey(line.session)], adds: [{ session: line.session, at: 0, text: line.text }] };
  }
  if ('page' in line)
    return {
      puts: [
        defined({ page: line.page, file: `results/${line.page}.md`, text: line.text, was: line.was || undefined }),
      ],
    };
  const { id, state, text, of } = line;
  return { puts: [defined({ task: id, state, text, base: of })] };
}

function keyOf(id: string): string {
  if (id.startsWith('conversation ')) return sessionKey(id.slice('conversation '.length));
  return id.startsWith('page ') ? pageKey(id.slice('page '.length)) : taskKey(id);
}

/** A torn line was never acknowledged. */
function parseLine(text: string): OldLine | undefined {
  try {
    const line = JSON.parse(text) as OldLine;
    return typeof line === 'object' && line !== null && ('there' in line || 'text' in line) ? line : undefined;
  } catch {
    return undefined;
  }
}
