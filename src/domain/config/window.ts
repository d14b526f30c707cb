/** Context windows of models in tokens, rounded down. `windows` in `guild.yaml` overrides them. */
const WINDOWS: readonly [RegExp, number][] = [
  [/^gpt-(6|5\.6)/, 922_000],
  [/^gpt-4\.1/, 1_000_000],
  [/^gpt-5/, 272_000],
  [/^(gpt-4o|gpt-4-turbo)/, 128_000],
  [/^o\d/, 200_000],
  [/^claude-(fable|(opus|sonnet|haiku)-5)/, 1_000_000],
  [/^claude-/, 200_000],
  [/^gemini-/, 1_000_000],
  [/^(mistral-large-4|deepseek-(flash|pro|v4)|grok-4\.3)/, 1_000_000],
  [/^grok-4\.5/, 500_000],
  [/^mistral-medium/, 256_000],
  [/^(gpt-3\.5|gemma)/, 16_000],
  [/^(llama3\.[123]|qwen|mistral|deepseek)/, 128_000],
];

const DEFAULT_WINDOW = 128_000;

/** The smallest window of all models that may be used. */
export function windowOf(models: readonly string[], own: Readonly<Record<string, number>>): number {
  const each = models.map((model) => {
    const name = model.slice(model.indexOf('/') + 1);
    return own[model] ?? own[name] ?? WINDOWS.find(([pattern]) => pattern.test(name))?.[1] ?? DEFAULT_WINDOW;
  });
  return Math.min(...each, ...(each.length === 0 ? [DEFAULT_WINDOW] : []));
}
