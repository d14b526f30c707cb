/** The texts of a source file that people read: its comments, and the messages in its code. */
import type { Node } from 'typescript/unstable/ast';
import * as is from 'typescript/unstable/ast/is';
import { eachNode, lineAt, type Source } from './parse.js';

interface SourceText {
  file: string;
  line: number;
  text: string;
}

/** Each comment as one text, without its marks. Instructions to linters are left out. */
export function commentTexts({ file, text, comments }: Pick<Source, 'file' | 'text' | 'comments'>): SourceText[] {
  const lines = text.split('\n');
  const found: SourceText[] = [];
  let last = { line: 0, mark: '' };
  for (const { line, columns } of comments) {
    const whole = lines[line - 1]!.slice(0, columns);
    const mark = /^\s*(\/\/|\/\*|\*)/.exec(whole)?.[1] ?? '';
    const words = whole.replace(mark === '*' ? /^\s*\*(?!\/) ?/ : /^.*?(?:\/\/|\/\*\*?)/, '').replace(/\*\/$/, '');
    const isNext = line === last.line + 1 && (mark === '*' || (mark === '//' && last.mark === '//'));
    const isForLinters = /^\s*(?:oxlint|eslint|prettier)-/.test(words);
    last = { line, mark: isForLinters ? '' : mark };
    if (isForLinters) continue;
    if (isNext) found.at(-1)!.text += ` ${words.trim()}`;
    else found.push({ file, line, text: words.trim() });
  }
  return found
    .map((comment) => ({ ...comment, text: comment.text.trim() }))
    .filter((comment) => /[a-z]{2}/i.test(comment.text));
}

const MIN_WORDS = 4;

/** Texts in the code that look like a sentence: at least four words. */
export function messageTexts({ file, tree }: Pick<Source, 'file' | 'tree'>): SourceText[] {
  const found: SourceText[] = [];
  eachNode(tree, (node) => {
    const text = sentenceIn(node);
    if (text !== undefined && (text.match(/(?<!\S)[a-z][a-z'-]+(?=[\s.,;:?!]|$)/gi) ?? []).length >= MIN_WORDS)
      found.push({ file, line: lineAt(tree, node.getStart(tree)), text });
  });
  return found;

  function sentenceIn(node: Node): string | undefined {
    if (is.isStringLiteral(node) || is.isNoSubstitutionTemplateLiteral(node)) return node.text;
    if (!is.isTemplateExpression(node)) return undefined;
    return tree.text.slice(node.getStart(tree) + 1, node.end - 1);
  }
}
