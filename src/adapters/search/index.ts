/**
 * Finds the lines that match a query best. Lexical by default: BM25 over paragraphs, without a
 * stored index; every file is read each time, and the reply says if a limit was reached. Semantic
 * on request: the same candidates and the first lines of files, ordered by meaning, with optional
 * packages; if they are missing, the reply says so.
 */
import type { FoundLine, Search, SearchFile } from '../../ports/workspace-files.js';
import { meaning, type Embed } from './meaning.js';
import { asQuery, openingOf, ranker, type Candidate, type Query } from './rank.js';

interface SearchOptions {
  kind: 'lexical' | 'semantic';
  /** Loads the embedding function; by default from the optional packages, at first use. */
  embed?: () => Promise<Embed | undefined>;
  now?: () => number;
  limits?: Partial<SearchLimits>;
}

interface SearchLimits {
  files: number;
  bytes: number;
  ms: number;
  /** Time limit for embedding texts in semantic search. */
  embedMs: number;
}

const LIMITS: SearchLimits = { files: 20_000, bytes: 64 * 1024 * 1024, ms: 3000, embedMs: 10_000 };
const PER_FILE = 3;
const MAX_LINE_CHARS = 240;

export function search({ kind, embed, now = () => performance.now(), limits }: SearchOptions): Search {
  const bounds = { ...LIMITS, ...limits };
  const byMeaning = kind === 'semantic' ? meaning(embed) : undefined;
  return async (text, files, { limit }) => {
    const query = asQuery(text);
    if (query === undefined) return { found: [], note: 'the query has no words to look for' };
    const searched = await searchFiles(files, query, bounds, now, byMeaning !== undefined);
    const { ranked } = searched;
    if (byMeaning === undefined) return reply(ranked, limit, [searched.cut]);
    const sorted = await byMeaning(text, ranked, searched.openings, { ms: bounds.embedMs, now });
    return reply(sorted.ranked, limit, [searched.cut, sorted.note]);
  };
}

interface Searched {
  ranked: Candidate[];
  /** The beginnings of files, for semantic search only. */
  openings: Candidate[];
  cut?: string;
}

async function searchFiles(
  files: Iterable<SearchFile>,
  query: Query,
  bounds: SearchLimits,
  now: () => number,
  openings: boolean,
): Promise<Searched> {
  const searched: Searched = { ranked: [], openings: [] };
  const ranking = await ranker(query);
  const end = now() + bounds.ms;
  let [seen, bytes] = [0, 0];
  for (const file of files) {
    if (seen >= bounds.files || bytes > bounds.bytes || now() > end) {
      searched.cut = `only the first ${seen} files were searched; name a folder to search in to see the rest`;
      break;
    }
    // Lets other work run, because a search would otherwise block the event loop for long.
    if (++seen % 50 === 0) await new Promise((next) => setImmediate(next));
    const text = file.text();
    if (text === undefined || text === '') continue;
    bytes += text.length;
    ranking.add(file.path, text);
    if (openings) searched.openings.push(openingOf(file.path, text));
  }
  searched.ranked = ranking.ranked();
  return searched;
}

/**
 * Best first, with at most PER_FILE lines of one file, so that a long file does not hide the
 * others.
 */
function reply(
  ranked: Candidate[],
  limit: number,
  notes: (string | undefined)[],
): { found: FoundLine[]; note?: string } {
  const perFile = new Map<string, number>();
  const found: FoundLine[] = [];
  for (const { path, line, text, score } of ranked) {
    const before = perFile.get(path) ?? 0;
    if (before >= PER_FILE || found.some((other) => other.path === path && other.line === line)) continue;
    perFile.set(path, before + 1);
    found.push({ path, line, text: shortened(text), score: Math.round(score * 1000) / 1000 });
    if (found.length >= limit) break;
  }
  const note = notes.filter((text) => text !== undefined).join('; ');
  return note === '' ? { found } : { found, note };
}

function shortened(line: string): string {
  const bare = line.trim();
  return bare.length <= MAX_LINE_CHARS ? bare : `${bare.slice(0, MAX_LINE_CHARS)}…`;
}
