/** A question to a model in parts that people can compare; exactly what the provider is sent. */
import type { ModelSettings } from '../agent/agent.js';
import type { Message } from './session.js';

interface Question {
  system: string;
  messages: readonly Message[];
  tools: readonly { name: string; description: string; parameters: unknown }[];
  settings: ModelSettings;
}

/** In the order in which a person looks for a change. */
export function questionParts({ system, messages, tools, settings }: Question): { name: string; text: string }[] {
  return [
    { name: 'settings', text: JSON.stringify(settings) },
    { name: 'system prompt', text: system },
    { name: 'tools', text: tools.map(toolText).join('\n') },
    ...messages.map((message, i) => ({ name: `message ${i + 1} (${message.role})`, text: messageText(message) })),
  ];
}

function toolText({ name, description, parameters }: Question['tools'][number]): string {
  return `${name}: ${description}\n  ${JSON.stringify(parameters)}`;
}

function messageText({ role, content, toolCalls = [], toolCallId, isError, files = [] }: Message): string {
  const calls = toolCalls.map((call) => `call ${call.id} ${call.name} ${JSON.stringify(call.arguments)}`);
  const answers = toolCallId === undefined ? [] : [`answers ${toolCallId}${isError ? ', as an error' : ''}`];
  const shown = files.map(({ name, blob }) => `file ${name} ${blob}`);
  return [`${role}:`, content, ...calls, ...answers, ...shown].join('\n');
}
