/** The editor of files. It loads when a file is edited, not before. */
import { completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yamlFrontmatter } from '@codemirror/lang-yaml';
import { HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import { linter, lintGutter, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Problem } from '../../src/domain/problem.ts';
import type { AgentSchema } from '../../src/web/base/contract.ts';
import { isTyping } from '../keys.ts';
import { completeFrom } from './completion.ts';

export interface EditorOptions {
  parent: HTMLElement;
  text: string;
  label: string;
  /** Called while typing; the problems are marked at their places. */
  check: (text: string) => Promise<Problem[]>;
  save: () => void;
  schema: AgentSchema;
  /** Values by key that only this workspace knows. */
  words: Record<string, readonly string[]>;
}

export interface OpenEditor {
  text(): string;
  replace(text: string): void;
  close(): void;
}

const CHECK_MS = 250;

export function openEditor({ parent, text, label, check, save, schema, words }: EditorOptions): OpenEditor {
  const nonce = document.getElementById('hello')?.nonce ?? '';
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        yamlFrontmatter({ content: plain() }),
        syntaxHighlighting(COLOURS),
        completeFrom(schema, words),
        lintGutter(),
        linter(async ({ state }) => marks(state, await check(state.doc.toString())), { delay: CHECK_MS }),
        keymap.of([
          { key: 'Mod-Enter', run: () => (save(), true) },
          ...completionKeymap,
          indentWithTab,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
      ],
    }),
  });
  // It loads a moment after its page. If the person types elsewhere by then, the focus stays there.
  if (!isTyping(document.activeElement)) view.focus();
  return {
    text: () => view.state.doc.toString(),
    replace: (now) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: now } }),
    close: () => view.destroy(),
  };
}

/** The body of an agent is plain text: highlighting it is not worth its size. */
function plain(): LanguageSupport {
  return new LanguageSupport(StreamLanguage.define({ token: (stream) => (stream.skipToEnd(), null) }));
}

/** The colours are those of the page, in its light and dark form. */
const COLOURS = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: 'var(--check)' },
  { tag: tags.propertyName, color: 'var(--check)' },
  { tag: tags.string, color: 'var(--done)' },
  { tag: tags.number, color: 'var(--working)' },
  { tag: tags.bool, color: 'var(--working)' },
  { tag: tags.comment, color: 'var(--ink-3)' },
]);

function marks(state: EditorState, problems: readonly Problem[]): Diagnostic[] {
  return problems.map(({ message, where, hint }) => {
    const line = state.doc.line(Math.min(state.doc.lines, Math.max(1, where?.line ?? 1)));
    const from = Math.min(line.to, line.from + Math.max(0, (where?.column ?? 1) - 1));
    return { from, to: line.to, severity: 'error', message: hint === undefined ? message : `${message}. ${hint}` };
  });
}
