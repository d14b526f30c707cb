/** The types of the AI SDK, which its packages do not export by one name. */
import type { OpenAIProvider } from '@ai-sdk/openai';

export type LanguageModel = ReturnType<OpenAIProvider['chat']>;
export type CallOptions = Parameters<LanguageModel['doStream']>[0];
export type Prompt = CallOptions['prompt'];
export type Assistant = Extract<Prompt[number], { role: 'assistant' }>;
export type ResultPart = Extract<Extract<Prompt[number], { role: 'tool' }>['content'][number], { type: 'tool-result' }>;
export type FilePart = Extract<Extract<Prompt[number], { role: 'user' }>['content'][number], { type: 'file' }>;
export type ProviderOptions = NonNullable<Assistant['providerOptions']>;
export type StreamPart =
  Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;
export type ProviderMetadata = Extract<StreamPart, { type: 'text-start' }>['providerMetadata'];
