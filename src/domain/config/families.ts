/**
 * The settings that model families accept. A setting that a family refuses fails every call, so it
 * is left out; `guild check` warns about it. The name of the model decides, at every provider.
 */
import type { ModelSettings } from '../agent/agent.js';

type Setting = 'temperature' | 'topP' | 'topK' | 'reasoning';

interface Family {
  name: RegExp;
  /** Their names, for people. */
  who: string;
  refused: readonly Setting[];
  /** The settings are accepted and change nothing. */
  ignored?: readonly Setting[];
  /** Reasoning cannot be switched off. */
  alwaysReasons?: boolean;
}

const SAMPLING = ['temperature', 'topP', 'topK'] as const;

/** The first matching family. A newer version has the rules of the newest known version. */
const FAMILIES: readonly Family[] = [
  {
    name: /claude-(fable|mythos)|claude-(opus|sonnet)-(5-[5-9]|[6-9])/,
    who: 'Claude Fable, Opus 5.5 and Sonnet 5.5',
    refused: SAMPLING,
    alwaysReasons: true,
  },
  {
    name: /claude-(opus-4-[7-9]|(opus|sonnet|haiku)-[5-9])/,
    who: 'Claude from Opus 4.7 on',
    refused: SAMPLING,
  },
  {
    name: /gpt-6(-astra|\.1-sol)/,
    who: 'GPT-6 Astra and GPT-6.1 Sol',
    refused: SAMPLING,
    alwaysReasons: true,
  },
  { name: /(^|\/)(gpt-([6-9]|5\.\d)|gpt-oss)/, who: 'GPT-5.1 and later', refused: SAMPLING },
  { name: /(^|\/)(gpt-5|o\d)/, who: 'GPT-5 and the o models', refused: SAMPLING, alwaysReasons: true },
  { name: /(^|\/)(gpt-4|gpt-3|chatgpt)/, who: 'GPT-4', refused: ['topK', 'reasoning'] },
  { name: /gemini-([4-9]|3)/, who: 'Gemini 3 and later', refused: [], alwaysReasons: true },
  { name: /(^|\/)grok-/, who: 'models of xAI', refused: ['topK'] },
  { name: /mistral|magistral|devstral|codestral|ministral|pixtral/, who: 'models of Mistral', refused: ['topK'] },
  { name: /deepseek/, who: 'DeepSeek', refused: ['topK'], ignored: ['temperature', 'topP'] },
];

/** With effort `none` these models accept `temperature` and `top_p`. */
const SAMPLES_WITHOUT_REASONING = /(^|\/)gpt-([6-9]|5\.\d)(?!-astra|\.1-sol)/;

/** The settings without those that the model refuses. `model`: without or with its provider. */
export function acceptedSettings(model: string, settings: ModelSettings): ModelSettings {
  const accepted = { ...settings };
  for (const setting of refusedSettings(model, settings)) delete accepted[setting];
  return accepted;
}

/** A sentence for each setting that does not have the effect its author expects. */
export function settingWarnings(model: string, settings: ModelSettings): string[] {
  const family = familyOf(model);
  if (family === undefined) return [];
  const refused = refusedSettings(model, settings);
  return [
    ...refused.map((setting) => `${family.who} refuse ${WORDS[setting]}, so it is left out for ${model}`),
    ...(family.ignored ?? [])
      .filter((setting) => settings[setting] !== undefined && settings.reasoning !== 'none')
      .map((setting) => `${WORDS[setting]} has no effect while ${model} thinks; reasoning: none turns that off`),
    ...(family.alwaysReasons && settings.reasoning === 'none'
      ? [`reasoning cannot be turned off for ${model}, so it gets the lowest level`]
      : []),
  ];
}

const WORDS: Record<Setting, string> = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  reasoning: 'reasoning',
};

function familyOf(model: string): Family | undefined {
  return FAMILIES.find(({ name }) => name.test(model));
}

function refusedSettings(model: string, settings: ModelSettings): Setting[] {
  const samples = settings.reasoning === 'none' && SAMPLES_WITHOUT_REASONING.test(model);
  const { refused = [] } = familyOf(model) ?? {};
  return refused.filter(
    (setting) => settings[setting] !== undefined && !(samples && (setting === 'temperature' || setting === 'topP')),
  );
}

const SEES: readonly [RegExp, { pdf: boolean }][] = [
  [/claude-/, { pdf: true }],
  [/gemini-/, { pdf: true }],
  [/(^|\/)(gpt-(4o|4\.1|[5-9])|chatgpt|o[34])(?!.*-oss)/, { pdf: true }],
  [
    /mistral-(large|medium|small)|pixtral|deepseek-flash|grok-4|gemma-?3|llama-?4|llava|vision|-vl\b|qwen.*vl/,
    { pdf: false },
  ],
];

/** An unknown model gets a note instead of the file: a refused file would fail every call. */
export function acceptsMedia(model: string, mediaType: string): boolean {
  const family = SEES.find(([name]) => name.test(model))?.[1];
  return family !== undefined && (mediaType.startsWith('image/') || (mediaType === 'application/pdf' && family.pdf));
}
