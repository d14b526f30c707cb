/**
 * How much an agent's field has to do with a text, from 0 to 1, without a model. Each expertise that the text speaks of counts much; its
 * description counts by how much of the two is said in both. Words that many agents use say little about one of them and weigh little
 * (inverse document frequency over the agents of the workspace).
 */
import type { Agent } from '../../domain/agent/agent.js';
import { stems } from '../staffing/similarity.js';

export type Profile = Pick<Agent, 'name' | 'description' | 'expertise' | 'capabilities'>;

/** Above this an agent may be asked for help. */
export const RELEVANT = 0.6;

/** `among`: all agents of the workspace; what they have in common weighs little. */
export function relevance(agent: Profile, text: string, among: readonly Profile[] = [agent]): number {
  const said = new Set(stems(text).slice(0, MOST_WORDS).flatMap(pieces));
  if (said.size === 0) return 0;
  const weigh = weights(among);
  const fields = [...new Set([...agent.expertise, ...agent.capabilities])];
  let unlike = 1;
  for (const field of fields) unlike *= 1 - FIELD * covered(stems(field).flatMap(pieces), said, weigh);
  const words = new Set(stems(`${agent.name} ${agent.description}`).flatMap(pieces));
  return 1 - unlike * (1 - inCommon(words, said, weigh));
}

/** One expertise that the text fully speaks of makes an agent relevant by itself. */
const FIELD = 0.7;
/** Beyond this a text is a document, and whatever is looked for stands somewhere in it. */
const MOST_WORDS = 400;
/** Two texts of fewer words than this have too little in common to say anything. */
const LEAST_WORDS = 4;

type Weigh = (stem: string) => number;

/** How much of a field the text speaks of. */
function covered(field: readonly string[], said: ReadonlySet<string>, weigh: Weigh): number {
  const all = sum(field, weigh);
  return all === 0
    ? 0
    : sum(
        field.filter((stem) => said.has(stem)),
        weigh,
      ) / all;
}

/** What is said in both, of the shorter of the two; the root, because a third in common is already a lot. */
function inCommon(words: ReadonlySet<string>, said: ReadonlySet<string>, weigh: Weigh): number {
  const shared = [...words].filter((stem) => said.has(stem));
  const shorter = Math.max(LEAST_WORDS, Math.min(words.size, said.size));
  const least = Math.max(shorter, Math.min(sum([...words], weigh), sum([...said], weigh)));
  return Math.sqrt(sum(shared, weigh) / least);
}

/** A word of one agent among many weighs 1, one that all use nearly nothing; one that no agent uses says nothing less than 1. */
function weights(among: readonly Profile[]): Weigh {
  const used = new Map<string, number>();
  for (const { name, description, expertise, capabilities } of among) {
    const text = [name, description, ...expertise, ...capabilities].join(' ');
    for (const stem of new Set(stems(text).flatMap(pieces))) used.set(stem, (used.get(stem) ?? 0) + 1);
  }
  const rarity = (n: number): number => Math.log(1 + (among.length - n + 0.5) / (n + 0.5));
  const most = rarity(1);
  return (stem) => Math.min(1, rarity(Math.max(1, used.get(stem) ?? 1)) / most);
}

function sum(all: readonly string[], weigh: Weigh): number {
  return all.reduce((total, stem) => total + weigh(stem), 0);
}

/** `code-review` is both words, and itself. */
function pieces(stem: string): string[] {
  return /[-_/]/.test(stem) ? [stem, ...stems(stem.replace(/[-_/]+/g, ' '))] : [stem];
}
