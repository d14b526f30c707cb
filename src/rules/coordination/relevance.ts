/**
 * Rates how relevant an agent is to a text, from 0 to 1, without a model. An expertise that the
 * text mentions counts most; the description counts by its overlap with the text. Words that many
 * agents use weigh little (inverse document frequency over the agents of the workspace).
 */
import type { Agent } from '../../domain/agent/agent.js';
import { stems } from '../staffing/similarity.js';

type Profile = Pick<Agent, 'name' | 'description' | 'expertise' | 'capabilities'>;

/** Only an agent above this relevance may be asked for help. */
export const RELEVANT = 0.6;

/** `among`: all agents of the workspace, for the weights of words. */
export function relevance(agent: Profile, text: string, among: readonly Profile[] = [agent]): number {
  const textStems = new Set(stems(text).slice(0, MAX_WORDS).flatMap(pieces));
  if (textStems.size === 0) return 0;
  const weigh = weights(among);
  const fields = [...new Set([...agent.expertise, ...agent.capabilities])];
  let unlike = 1;
  for (const field of fields) unlike *= 1 - FIELD_WEIGHT * covered(stems(field).flatMap(pieces), textStems, weigh);
  const ownStems = new Set(stems(`${agent.name} ${agent.description}`).flatMap(pieces));
  return 1 - unlike * (1 - overlap(ownStems, textStems, weigh));
}

/** One fully mentioned expertise is enough to make an agent relevant. */
const FIELD_WEIGHT = 0.7;
/** A longer text would mention almost anything, so only its start counts. */
const MAX_WORDS = 400;
/**
 * A text with fewer words is treated as this long, so that one shared word does not count too much.
 */
const MIN_WORDS = 4;

type Weigh = (stem: string) => number;

function covered(field: readonly string[], text: ReadonlySet<string>, weigh: Weigh): number {
  const total = sum(field, weigh);
  const mentioned = field.filter((stem) => text.has(stem));
  return total === 0 ? 0 : sum(mentioned, weigh) / total;
}

/**
 * The shared words relative to the shorter text; the square root, because a third in common is a
 * lot.
 */
function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>, weigh: Weigh): number {
  const shared = [...a].filter((stem) => b.has(stem));
  const shorter = Math.max(MIN_WORDS, Math.min(a.size, b.size));
  const total = Math.max(shorter, Math.min(sum([...a], weigh), sum([...b], weigh)));
  return Math.sqrt(sum(shared, weigh) / total);
}

/** A word that at most one agent uses weighs 1; a word that all use weighs almost nothing. */
function weights(among: readonly Profile[]): Weigh {
  const used = new Map<string, number>();
  for (const { name, description, expertise, capabilities } of among) {
    const text = [name, description, ...expertise, ...capabilities].join(' ');
    for (const stem of new Set(stems(text).flatMap(pieces))) used.set(stem, (used.get(stem) ?? 0) + 1);
  }
  const rarity = (n: number): number => Math.log(1 + (among.length - n + 0.5) / (n + 0.5));
  const highest = rarity(1);
  return (stem) => Math.min(1, rarity(Math.max(1, used.get(stem) ?? 1)) / highest);
}

function sum(words: readonly string[], weigh: Weigh): number {
  return words.reduce((total, stem) => total + weigh(stem), 0);
}

/** `code-review` counts as itself and as both of its words. */
function pieces(stem: string): string[] {
  return /[-_/]/.test(stem) ? [stem, ...stems(stem.replace(/[-_/]+/g, ' '))] : [stem];
}
