/** Completion of keys and values in the head of an agent file, from its JSON Schema. */
import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import type { Extension } from '@codemirror/state';
import type { AgentSchema } from '../../src/web/base/contract.ts';

/** `words`: further values by key, such as the agents and tools of this workspace. */
export function completeFrom(schema: AgentSchema, words: Record<string, readonly string[]>): Extension {
  const keys = schema.keys.map(({ key, description }) => ({ label: key, apply: `${key}: `, info: description }));
  const values = new Map(
    schema.keys.map(({ key, values: own }) => [key, [...new Set([...own, ...(words[key] ?? [])])]]),
  );
  const source = (context: CompletionContext): CompletionResult | null => {
    if (!isInHead(context)) return null;
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const word = /[\w./-]*$/.exec(before)![0];
    const from = context.pos - word.length;
    if (/^\w*$/.test(before)) return before === '' && !context.explicit ? null : { from, options: keys };
    const key = /^(\w+):/.exec(before)?.[1] ?? keyAbove(context);
    const options = (values.get(key ?? '') ?? []).map((label) => ({ label }));
    return options.length === 0 ? null : { from, options };
  };
  return autocompletion({ override: [source], icons: false, closeOnBlur: true });
}

/** Between the two lines of dashes. */
function isInHead({ state, pos }: CompletionContext): boolean {
  const here = state.doc.lineAt(pos).number;
  if (state.doc.line(1).text !== '---' || here === 1) return false;
  for (let n = 2; n < here; n++) if (state.doc.line(n).text === '---') return false;
  return state.doc.line(here).text !== '---';
}

/** An item of a list belongs to the key above it. */
function keyAbove({ state, pos }: CompletionContext): string | undefined {
  for (let n = state.doc.lineAt(pos).number; n > 1; n--) {
    const { text } = state.doc.line(n);
    const key = /^(\w+):/.exec(text)?.[1];
    if (key !== undefined) return key;
    if (!/^\s*-|^\s+/.test(text)) return undefined;
  }
  return undefined;
}
