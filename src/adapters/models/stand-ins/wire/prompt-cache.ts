/**
 * Automatic prompt caching, as OpenAI, Google and DeepSeek have it: the longest prefix that the
 * prompt shares with an earlier one of the same key counts as cached, rounded down to whole steps,
 * if it reaches a minimum length.
 */

interface PromptCache {
  /** Cached tokens of this prompt, which is remembered for the next ones. */
  read(key: string, prompt: string, limits: { minimum: number; step: number }): number;
}

const PROMPTS_PER_KEY = 32;

export function promptCache(options: { now(): number; lifeMs: number }): PromptCache {
  const prompts = new Map<string, { text: string; usedMs: number }[]>();
  return {
    read(key, prompt, { minimum, step }) {
      const fresh = (prompts.get(key) ?? []).filter(({ usedMs }) => options.now() - usedMs < options.lifeMs);
      const shared = Math.max(0, ...fresh.map(({ text }) => sharedLength(text, prompt)));
      const others = fresh.filter(({ text }) => !prompt.startsWith(text));
      prompts.set(key, [...others, { text: prompt, usedMs: options.now() }].slice(-PROMPTS_PER_KEY));
      const tokens = Math.floor(shared / 4 / step) * step;
      return tokens < minimum ? 0 : tokens;
    },
  };
}

function sharedLength(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a[at] === b[at]) at++;
  return at;
}
