/**
 * Finds the lines that fit some words best. Lexical by default: BM25 over paragraphs, no index to keep, every file read
 * afresh within bounds that are told when they are met. Semantic on request: the same candidates, and the openings of
 * files, put in order by meaning, with packages that the user installs; without them one sentence says so.
 */
import type { FoundLine, Search, SearchFile } from '../../ports/workspace-files.js';
import { meaning, type Embed } from './meaning.js';
import { asQuery, matches, openingOf, scored, type Candidate, type Query } from './rank.js';

export interface SearchOptions {
  kind: 'lexical' | 'semantic';
  /** Turns texts into vectors; by default the optional packages, imported at first use. */
  embed?: () => Promise<Embed | undefined>;
  now?: () => number;
  limits?: Partial<SearchLimits>;
}

interface SearchLimits {
  files: number;
  bytes: number;
  ms: number;
  /** For semantic: how long texts may be turned into vectors. */
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
    const looked = await lookAt(files, query, bounds, now, byMeaning !== undefined);
    const ranked = scored(query, looked);
    if (byMeaning === undefined) return reply(ranked, limit, [looked.cut]);
    const sorted = await byMeaning(text, ranked, looked.openings, { ms: bounds.embedMs, now });
    return reply(sorted.ranked, limit, [looked.cut, sorted.note]);
  };
}

interface Looked {
  candidates: Candidate[];
  /** The beginnings of files, for semantic search only. */
  openings: Candidate[];
  /** Paragraphs in all, also those without a hit. */
  paragraphs: number;
  cut?: string;
}

async function lookAt(
  files: Iterable<SearchFile>,
  query: Query,
  bounds: SearchLimits,
  now: () => number,
  openings: boolean,
): Promise<Looked> {
  const looked: Looked = { candidates: [], openings: [], paragraphs: 0 };
  const end = now() + bounds.ms;
  let [seen, bytes] = [0, 0];
  for (const file of files) {
    if (seen >= bounds.files || bytes > bounds.bytes || now() > end) {
      looked.cut = `only the first ${seen} files were searched; name a folder to search in to see the rest`;
      break;
    }
    // Others get their turn: a search is the longest thing that runs without waiting for anything.
    if (++seen % 50 === 0) await new Promise((next) => setImmediate(next));
    const text = file.text();
    if (text === undefined || text === '') continue;
    bytes += text.length;
    const found = matches(query, file.path, text);
    looked.candidates.push(...found.candidates);
    looked.paragraphs += found.paragraphs;
    if (openings) looked.openings.push(openingOf(file.path, text));
  }
  return looked;
}

/** Best first, at most a few of one file, so that one long file does not hide the others. */
function reply(
  ranked: Candidate[],
  limit: number,
  notes: (string | undefined)[],
): { found: FoundLine[]; note?: string } {
  const perFile = new Map<string, number>();
  const found: FoundLine[] = [];
  for (const { path, line, text, score } of ranked) {
    const before = perFile.get(path) ?? 0;
    if (before >= PER_FILE || found.some((one) => one.path === path && one.line === line)) continue;
    perFile.set(path, before + 1);
    found.push({ path, line, text: shortened(text), score: Math.round(score * 1000) / 1000 });
    if (found.length >= limit) break;
  }
  const note = notes.filter((one) => one !== undefined).join('; ');
  return note === '' ? { found } : { found, note };
}

function shortened(line: string): string {
  const bare = line.trim();
  return bare.length <= MAX_LINE_CHARS ? bare : `${bare.slice(0, MAX_LINE_CHARS)}…`;
}
