/**
 * Prompt caching by marks. Blocks count in the order tools, system, messages. A mark stores
 * everything up to it. A request reads the longest stored prefix that ends at one of its marks, or
 * at most 20 blocks before one.
 */
import { isMapping } from '../../../../domain/mapping.js';
import { defined } from '../../../../domain/defined.js';
import { objectOf, objectsIn, stringOf, without, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';
import { digest } from '../wire/seal.js';
import { tokensOf } from '../wire/tokens.js';
import type { Family } from './families.js';
import { blocksOf, isThought, type Turn } from './turns.js';

export interface CacheUsage {
  /** Neither read nor written. */
  fresh: number;
  read: number;
  written5m: number;
  written1h: number;
}

type AnthropicCache = (body: Json, turns: readonly Turn[], family: Family) => CacheUsage;

const LOOK_BACK_BLOCKS = 20;
const LIFE_MS = { '5m': 5 * 60_000, '1h': 60 * 60_000 };
type Ttl = keyof typeof LIFE_MS;

export function anthropicCache(now: () => number): AnthropicCache {
  const expiries = new Map<string, { untilMs: number; lifeMs: number }>();
  const isStored = (key: string) => (expiries.get(key)?.untilMs ?? 0) > now();
  return (body, turns, family) => {
    const places = placesOf(body, turns);
    const total = places.at(-1)?.tokens ?? 0;
    const marked = places.flatMap((place, at) =>
      place.mark && place.tokens >= family.cacheMinimum ? [{ ...place, at, ttl: place.mark }] : [],
    );
    let hit = -1;
    for (const { at } of marked)
      for (let back = at; back >= Math.max(0, at - LOOK_BACK_BLOCKS); back--)
        if (back > hit && isStored(places[back]!.key)) hit = back;
    const read = hit === -1 ? 0 : places[hit]!.tokens;
    if (hit !== -1) {
      const entry = expiries.get(places[hit]!.key)!;
      entry.untilMs = now() + entry.lifeMs;
    }
    const written = { '5m': 0, '1h': 0 };
    let upTo = read;
    for (const { tokens, ttl, key } of marked) {
      expiries.set(key, { untilMs: now() + LIFE_MS[ttl], lifeMs: LIFE_MS[ttl] });
      written[ttl] += Math.max(0, tokens - upTo);
      upTo = Math.max(upTo, tokens);
    }
    return { fresh: total - upTo, read, written5m: written['5m'], written1h: written['1h'] };
  };
}

export function checkMarks(body: Json, turns: readonly Turn[], { refuse }: Judge): void {
  const marks = [...objectsIn(body['tools']), ...blocksOf(body['system']), ...blockList(turns)].flatMap(marksOf);
  const all = isMapping(body['cache_control']) ? [...marks, body['cache_control']] : marks;
  if (all.length > 4)
    refuse('3-caching.four-marks', `A maximum of 4 blocks with cache_control may be provided. Found ${all.length}.`);
  for (const { ttl } of all)
    if (ttl !== undefined && ttl !== '5m' && ttl !== '1h')
      refuse('3-caching.ttl', `cache_control.ephemeral.ttl: Input should be '5m' or '1h'`);
  const firstShort = marks.findIndex(({ ttl }) => ttl !== '1h');
  if (firstShort !== -1 && marks.slice(firstShort).some(({ ttl }) => ttl === '1h'))
    refuse(
      '3-caching.ttl-order',
      `a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: tools, system, messages.`,
    );
  for (const { blocks } of turns)
    for (const each of blocks)
      if (isThought(each) && each.block['cache_control'] !== undefined)
        refuse(
          '3-caching.not-on-thoughts',
          `messages.${each.at}.content.${each.index}.${stringOf(each.block['type'])}.cache_control: Extra inputs are not permitted`,
        );
}

interface Place {
  /** Identifies everything up to here. */
  key: string;
  tokens: number;
  mark?: Ttl;
}

function placesOf(body: Json, turns: readonly Turn[]): Place[] {
  const places: Place[] = [];
  let key = digest([body['model'], objectOf(body['output_config'])['effort'] ?? null]);
  let tokens = 0;
  const add = (block: Json, label: string) => {
    const content = without(block, ['cache_control']);
    key = digest([key, label, content]);
    tokens += tokensOf(content);
    const [mark] = marksOf(block);
    places.push(defined({ key, tokens, mark: mark ? ttlOf(mark) : undefined }));
  };
  for (const tool of objectsIn(body['tools'])) add(tool, 'tool');
  for (const block of blocksOf(body['system'])) add(block, 'system');
  key = digest([key, body['thinking'] ?? null, body['tool_choice'] ?? null]);
  for (const { role, blocks } of turns) for (const { block } of blocks) add(block, role);
  const automatic = body['cache_control'];
  const last = places.at(-1);
  if (last && isMapping(automatic)) last.mark ??= ttlOf(automatic);
  return places;
}

function blockList(turns: readonly Turn[]): Json[] {
  return turns.flatMap(({ blocks }) => blocks.map(({ block }) => block));
}

/** The mark of a block, or those inside a tool result. */
function marksOf(block: Json): Json[] {
  const own = isMapping(block['cache_control']) ? [block['cache_control']] : [];
  return [...own, ...objectsIn(block['content']).flatMap(marksOf)];
}

function ttlOf(mark: Json): Ttl {
  return mark['ttl'] === '1h' ? '1h' : '5m';
}
