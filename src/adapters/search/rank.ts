/**
 * Lexical ranking of paragraphs with MiniSearch (BM25). Only paragraphs that can match are indexed.
 * Quoted phrases and matching file names count more. If nothing matches exactly, the search is
 * repeated with fuzzy matching.
 */
import type MiniSearch from 'minisearch';

export interface Query {
  terms: string[];
  phrases: string[];
}

export interface Candidate {
  path: string;
  line: number;
  text: string;
  score: number;
  /** The whole paragraph, to compare its meaning. */
  around: string;
  /** The share of the query's words that it contains, from 0 to 1. */
  share: number;
}

interface Ranker {
  add(path: string, text: string): void;
  /** Best first. */
  ranked(): Candidate[];
}

interface Paragraph {
  id: number;
  path: string;
  /** Counted from 0. */
  from: number;
  lines: string[];
}

const MAX_PARAGRAPH_LINES = 12;
const MAX_LINE_CHARS = 4000;
const MAX_TERMS = 24;
const MAX_PARAGRAPHS_A_FILE = 200;
/** Text kept for fuzzy matching. */
const MAX_SPARE_CHARS = 512 * 1024;
const PHRASE_BOOST = 2.5;
const STOP = new Set(
  'a about an and are as at be by can did do does for from how i in is it of on or our say that the this to was we what when where which who why with you your'.split(
    ' ',
  ),
);

export function asQuery(text: string): Query | undefined {
  const phrases = [...text.matchAll(/"([^"]+)"/g)]
    .map((match) => wordsOf(match[1]!).join(' '))
    .filter((phrase) => phrase.includes(' '));
  const all = [...new Set(wordsOf(text))];
  const telling = all.filter((word) => !STOP.has(word));
  const terms = (telling.length > 0 ? telling : all).slice(0, MAX_TERMS);
  return terms.length === 0 ? undefined : { terms, phrases };
}

export async function ranker(query: Query): Promise<Ranker> {
  const { default: Index } = await import('minisearch');
  const starts = query.terms.map((term) => term.slice(0, Math.max(3, term.length - 1)));
  const spare: { path: string; text: string }[] = [];
  let spareChars = 0;
  let paragraphs: Paragraph[] = [];
  let index = newIndex(Index, canMatch);

  return {
    add(path, text) {
      const name = new Set(wordsOf(path));
      const isNamed = query.terms.some((term) => name.has(term));
      const before = paragraphs.length;
      if (canMatch(text))
        for (const [from, lines] of paragraphsOf(text))
          if (canMatch(lines.join('\n')) && paragraphs.length - before < MAX_PARAGRAPHS_A_FILE) put(path, from, lines);
      if (paragraphs.length > before) return;
      if (isNamed) put(path, ...opening(text));
      else if (spareChars < MAX_SPARE_CHARS) {
        spareChars += text.length;
        spare.push({ path, text });
      }
    },
    ranked() {
      const exact = results(false);
      if (exact.length > 0) return exact;
      const near = paragraphs;
      paragraphs = [];
      index = newIndex(Index, () => true);
      for (const { path, from, lines } of near) put(path, from, lines);
      for (const { path, text } of spare) for (const [from, lines] of paragraphsOf(text)) put(path, from, lines);
      return results(true);
    },
  };

  function canMatch(text: string): boolean {
    const lower = text.toLowerCase();
    return starts.some((start) => lower.includes(start));
  }

  function put(path: string, from: number, lines: string[]): void {
    const paragraph = { id: paragraphs.length, path, from, lines };
    paragraphs.push(paragraph);
    index.add(paragraph);
  }

  function results(isFuzzy: boolean): Candidate[] {
    const hits = index.search(query.terms.join(' '), {
      tokenize: (terms) => terms.split(' '),
      processTerm: (term) => term,
      prefix: (term) => term.length >= 4,
      fuzzy: (term) => isFuzzy && term.length >= 5 && (term.length >= 7 ? 2 : 1),
      boost: { path: 0.5 },
      boostDocument: (id) =>
        query.phrases.length > 0 && hasPhrase(paragraphs[id as number]!, query) ? PHRASE_BOOST : 1,
    });
    const candidates = hits.map(({ id, score, terms, queryTerms }) => ({
      ...bestLine(paragraphs[id as number]!, terms),
      score,
      share: queryTerms.length / query.terms.length,
    }));
    return candidates.sort(
      (a, b) => b.score - a.score || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line),
    );
  }
}

/**
 * Words that the query does not contain count toward the length of a paragraph and are not indexed.
 */
function newIndex(Index: typeof MiniSearch, isWanted: (word: string) => boolean): MiniSearch<Paragraph> {
  return new Index<Paragraph>({
    fields: ['text', 'path'],
    extractField: (paragraph, field) =>
      field === 'text' ? textOf(paragraph) : String(paragraph[field as 'id' | 'path']),
    tokenize: (text) => wordsOf(text),
    processTerm: (word) => isWanted(word) && word,
  });
}

function textOf({ lines }: Paragraph): string {
  return lines.map((line) => line.slice(0, MAX_LINE_CHARS)).join('\n');
}

function hasPhrase(paragraph: Paragraph, { phrases }: Query): boolean {
  const words = ` ${wordsOf(textOf(paragraph)).join(' ')} `;
  return phrases.some((phrase) => words.includes(` ${phrase} `));
}

/** The line with the most matched words; the first one if only the name of the file matches. */
function bestLine({ path, from, lines }: Paragraph, terms: readonly string[]): Omit<Candidate, 'score' | 'share'> {
  const wanted = new Set(terms);
  let [best, most] = [0, 0];
  for (const [i, line] of lines.entries()) {
    const hits = new Set(wordsOf(line.slice(0, MAX_LINE_CHARS)).filter((word) => wanted.has(word))).size;
    if (hits > most) [best, most] = [i, hits];
  }
  return { path, line: from + best + 1, text: lines[best]!, around: lines.join('\n') };
}

/** The first paragraph of a file, as a summary of the file. */
export function openingOf(path: string, text: string): Candidate {
  const [from, lines] = opening(text);
  return { path, line: from + 1, text: lines[0]!, score: 0, around: `${path}\n${lines.join('\n')}`, share: 0 };
}

function opening(text: string): [from: number, lines: string[]] {
  const lines = text.slice(0, MAX_LINE_CHARS).split(LINE_END);
  const from = Math.max(
    0,
    lines.findIndex((line) => line.trim() !== ''),
  );
  return [from, lines.slice(from, from + MAX_PARAGRAPH_LINES)];
}

const LINE_END = /\r\n|\r|\n/;

/**
 * Runs of lines between empty ones; a heading belongs to the run after it. At most
 * MAX_PARAGRAPH_LINES lines.
 */
function* paragraphsOf(text: string): Generator<[from: number, lines: string[]], undefined> {
  const lines = text.split(LINE_END);
  let from = -1;
  for (let i = 0; i <= lines.length; i++) {
    const isEmpty = i === lines.length || lines[i]!.trim() === '';
    const heading = !isEmpty && /^#{1,6} /.test(lines[i]!);
    if (from >= 0 && i > from && (isEmpty || heading || i - from >= MAX_PARAGRAPH_LINES)) {
      if (isEmpty && i < lines.length && i === from + 1 && /^#{1,6} /.test(lines[from]!)) continue;
      yield [from, lines.slice(from, i)];
      from = -1;
    }
    if (from < 0 && !isEmpty) from = i;
  }
  return undefined;
}

/** `readFile2` becomes read, file, 2 and also readfile2, because people search for either. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const [chunk] of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const lower = chunk.toLowerCase();
    if (lower === chunk) {
      words.push(stem(chunk));
      continue;
    }
    const parts = chunk
      .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
      .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
      .split(' ');
    for (const part of parts) words.push(stem(part.toLowerCase()));
    if (parts.length > 1) words.push(lower);
  }
  return words;
}

/** Removes only a plural ending; more would depend on the language. */
function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith('s') && !/(ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}
