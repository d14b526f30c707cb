/**
 * Lexical ranking: paragraphs scored by BM25, with more weight for words that stand together, for phrases in quotes, for
 * paragraphs that hold many of the words, and for files whose name says them. Pure.
 */
export interface Query {
  terms: string[];
  phrases: string[];
}

export interface Candidate {
  path: string;
  /** The line of the paragraph that fits best. */
  line: number;
  text: string;
  score: number;
  /** The whole paragraph, for a second look. */
  around: string;
  /** How often each term of the query is in it; parts of a word count less. */
  counts: number[];
  words: number;
  phrase: boolean;
  nameHits: number;
}

const MAX_PARAGRAPH_LINES = 12;
const MAX_TERMS = 24;
const MAX_CANDIDATES_A_FILE = 200;
const STOP = new Set(
  'a about an and are as at be by can did do does for from how i in is it of on or our say that the this to was we what when where which who why with you your'.split(
    ' ',
  ),
);

/** Undefined if there is nothing to look for. */
export function asQuery(text: string): Query | undefined {
  const phrases = [...text.matchAll(/"([^"]+)"/g)]
    .map((match) => wordsOf(match[1]!).join(' '))
    .filter((phrase) => phrase.includes(' '));
  const all = [...new Set(wordsOf(text))];
  const telling = all.filter((word) => !STOP.has(word));
  const terms = (telling.length > 0 ? telling : all).slice(0, MAX_TERMS);
  return terms.length === 0 ? undefined : { terms, phrases };
}

/** `readFile2` is read, file, 2 and also readfile2: people search for either. */
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

/** The paragraphs of one file that hold a term of the query, not yet scored. */
export function matches(query: Query, path: string, text: string): { candidates: Candidate[]; paragraphs: number } {
  const name = new Set(wordsOf(path));
  const nameHits = query.terms.filter((term) => name.has(term)).length;
  const lower = text.toLowerCase();
  const hit = query.terms.some((term) => lower.includes(term.slice(0, Math.max(3, term.length - 1))));
  if (!hit && nameHits === 0) return { candidates: [], paragraphs: 1 + Math.floor(text.length / 400) };
  const lines = text.split(/\r\n|\r|\n/);
  const candidates: Candidate[] = [];
  let paragraphs = 0;
  for (const [from, to] of paragraphsOf(lines)) {
    paragraphs++;
    const found = candidates.length < MAX_CANDIDATES_A_FILE && paragraph(query, lines, from, to);
    if (found) candidates.push({ ...found, path, nameHits });
  }
  if (candidates.length === 0 && nameHits > 0)
    candidates.push({ ...openingOf(path, text), nameHits, counts: query.terms.map(() => 0) });
  return { candidates, paragraphs };
}

/** The first paragraph of a file, standing for the whole of it. */
export function openingOf(path: string, text: string): Candidate {
  const lines = text.slice(0, 4000).split(/\r\n|\r|\n/);
  const [from, to] = paragraphsOf(lines).next().value ?? [0, 1];
  const more = lines.slice(from, Math.max(to, from + MAX_PARAGRAPH_LINES)).join('\n');
  return {
    path,
    line: from + 1,
    text: lines[from]!,
    score: 0,
    around: `${path}\n${more}`,
    counts: [],
    words: 1,
    phrase: false,
    nameHits: 0,
  };
}

/** BM25 with the usual constants; best first. */
export function scored(query: Query, looked: { candidates: Candidate[]; paragraphs: number }): Candidate[] {
  const { candidates } = looked;
  const total = Math.max(looked.paragraphs, candidates.length, 1);
  const mean = candidates.reduce((sum, one) => sum + one.words, 0) / Math.max(candidates.length, 1);
  const rarity = query.terms.map((_, i) => {
    const holding = candidates.filter((one) => one.counts[i]! > 0).length;
    return Math.log(1 + (total - holding + 0.5) / (holding + 0.5));
  });
  for (const one of candidates) one.score = score(one, rarity, mean);
  return candidates.toSorted(
    (a, b) => b.score - a.score || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line),
  );
}

function score(one: Candidate, rarity: number[], mean: number): number {
  const length = 0.25 + 0.75 * (one.words / Math.max(mean, 1));
  let sum = 0;
  let covered = 0;
  for (const [i, count] of one.counts.entries()) {
    if (count === 0) continue;
    sum += rarity[i]! * ((count * 2.2) / (count + 1.2 * length));
    covered++;
  }
  const named = (0.5 * one.nameHits * rarity.reduce((a, b) => a + b, 0)) / rarity.length;
  return (sum * (0.5 + covered / rarity.length) + named) * (one.phrase ? 2.5 : 1);
}

function paragraph(
  query: Query,
  lines: string[],
  from: number,
  to: number,
): Omit<Candidate, 'path' | 'nameHits'> | undefined {
  const counts = query.terms.map(() => 0);
  let [words, best, bestLine] = [0, 0, from];
  const said: string[] = [];
  for (let i = from; i < to; i++) {
    const inLine = wordsOf(lines[i]!.slice(0, 4000));
    words += inLine.length;
    if (query.phrases.length > 0) said.push(...inLine);
    const hits = new Set<number>();
    for (const word of inLine) {
      for (const [t, term] of query.terms.entries()) {
        const weight = word === term ? 1 : isPartOf(term, word) ? 0.4 : 0;
        counts[t]! += weight;
        if (weight > 0) hits.add(t);
      }
    }
    if (hits.size > best) [best, bestLine] = [hits.size, i];
  }
  if (best === 0) return undefined;
  const spoken = ` ${said.join(' ')} `;
  const phrase = query.phrases.some((one) => spoken.includes(` ${one} `));
  return {
    line: bestLine + 1,
    text: lines[bestLine]!,
    score: 0,
    around: lines.slice(from, to).join('\n'),
    counts,
    words,
    phrase,
  };
}

/** Runs of lines between empty ones, headings with what follows them, never longer than a dozen lines. */
function* paragraphsOf(lines: string[]): Generator<[from: number, to: number], undefined> {
  let from = -1;
  for (let i = 0; i <= lines.length; i++) {
    const isEmpty = i === lines.length || lines[i]!.trim() === '';
    const heading = !isEmpty && /^#{1,6} /.test(lines[i]!);
    if (from >= 0 && i > from && (isEmpty || heading || i - from >= MAX_PARAGRAPH_LINES)) {
      if (isEmpty && i < lines.length && i === from + 1 && /^#{1,6} /.test(lines[from]!)) continue;
      yield [from, i];
      from = -1;
    }
    if (from < 0 && !isEmpty) from = i;
  }
  return undefined;
}

/** `config` in `configuration`: a word that begins with the term, if the term says enough. */
function isPartOf(term: string, word: string): boolean {
  return term.length >= 4 && word.length > term.length && word.startsWith(term);
}

/** Only the plural: more would need a language. */
function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith('s') && !/(ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}
