/**
 * Marks what Claude caches: the tools, the system prompt, the end of the conversation, and the end
 * of the request before. The last one is where that request's own mark was, so the cache is found
 * however many blocks were added since. Four marks are the maximum.
 */
import type { CallOptions, Prompt } from './types.js';

type Tools = NonNullable<CallOptions['tools']>;

/** OpenRouter and Vertex read the first, Bedrock the second. */
const MARK = {
  anthropic: { cacheControl: { type: 'ephemeral' } },
  bedrock: { cachePoint: { type: 'default' } },
};

export function withCacheMarks({ prompt, tools }: { prompt: Prompt; tools: Tools | undefined }): {
  prompt: Prompt;
  tools: Tools | undefined;
} {
  const isAsked = (at: number) => prompt[at]?.role === 'user' || prompt[at]?.role === 'tool';
  const answer = prompt.findLastIndex(({ role }) => role === 'assistant');
  const ends = [prompt.length - 1, answer - 1].filter(isAsked);
  return {
    prompt: prompt.map((message, at) =>
      message.role === 'system' || ends.includes(at) ? { ...message, providerOptions: MARK } : message,
    ),
    tools: tools?.map((tool, at) =>
      at === tools.length - 1 && tool.type === 'function' ? { ...tool, providerOptions: MARK } : tool,
    ),
  };
}
