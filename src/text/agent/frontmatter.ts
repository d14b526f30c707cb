/**
 * A text that begins with YAML between two lines `---`. A fence counts only at the very start of a
 * line, so an indented one inside a block literal does not. Offsets are into the whole text.
 */
type Frontmatter =
  | { kind: 'found'; start: number; end: number; body: number }
  /** The text does not begin with a fence; all of it is body. */
  | { kind: 'none'; body: number }
  /** The fence at this offset is never closed. */
  | { kind: 'open'; at: number };

/** A byte order mark and a first line `#!…` may precede it. */
export function splitFrontmatter(text: string): Frontmatter {
  const head = /^\uFEFF?(?:#!.*(?:\r?\n|$))?/.exec(text)![0].length;
  const opening = /^---[ \t]*(?:\r?\n|$)/.exec(text.slice(head, head + 200));
  if (opening === null) return { kind: 'none', body: head };
  const start = head + opening[0].length;
  const closing = /^---[ \t]*(?:\r?\n|$)/gm;
  closing.lastIndex = start;
  const fence = closing.exec(text);
  if (fence === null) return { kind: 'open', at: head };
  return { kind: 'found', start, end: fence.index, body: fence.index + fence[0].length };
}
