/** `@name` at the start of a message speaks to another agent, as in `guild chat`. */
import type { JSX } from 'preact';
import type { AgentList } from '../../src/web/base/contract.ts';
import { useRead } from '../api.ts';
import { visible } from '../text.ts';

/** The agent that a message names, and the message without the name. */
export function mentionIn(text: string): { name: string; rest: string } | undefined {
  const [, name, rest] = /^@([\w.-]+)\s*([^]*)$/.exec(text) ?? [];
  return name === undefined ? undefined : { name, rest: rest! };
}

export function useAgentNames(): string[] {
  const { data } = useRead<AgentList>('/api/agents');
  return (data.value?.agents ?? []).filter(({ problem }) => problem === undefined).map(({ name }) => name);
}

const SHOWN_MAX = 8;

/** The agents whose name begins with what is typed after `@`; none if no name is being typed. */
export function matching(names: readonly string[], text: string): string[] {
  const [, start] = /^@([\w.-]*)$/.exec(text) ?? [];
  if (start === undefined) return [];
  return names.filter((name) => name.toLowerCase().startsWith(start.toLowerCase())).slice(0, SHOWN_MAX);
}

interface MentionListProps {
  names: readonly string[];
  chosen: number;
  choose: (name: string) => void;
}

export function MentionList({ names, chosen, choose }: MentionListProps): JSX.Element | null {
  if (names.length === 0) return null;
  return (
    <ul class="mentions" id="mentions" role="listbox" aria-label="Agents">
      {names.map((name, i) => (
        <li
          key={name}
          id={`mention-${i}`}
          role="option"
          aria-selected={i === chosen}
          // Before the field loses its focus.
          onMouseDown={(event) => {
            event.preventDefault();
            choose(name);
          }}
        >
          @{visible(name)}
        </li>
      ))}
    </ul>
  );
}
