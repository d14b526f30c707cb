/** The result of an agent that declares its `output`: JSON that fits the schema. */
import type { AnswerSchema } from '../../domain/agent/answer-schema.js';
import { checkValue } from './args.js';

/** Undefined if the value fits; else one sentence for the model. */
export function answerFault(schema: AnswerSchema, value: unknown): string | undefined {
  return checkValue(schema, value, 'the result');
}

/** Reads an answer in text. Models like to put JSON into a code block. */
export function readAnswer(schema: AnswerSchema, text: string): { json: string } | { wrong: string } {
  const [, block] = /^\s*```(?:json)?\s*\n([^]*?)\n?```\s*$/.exec(text) ?? [];
  let value: unknown;
  try {
    value = JSON.parse(block ?? text);
  } catch (thrown) {
    return { wrong: `it is not JSON: ${(thrown as Error).message}` };
  }
  const wrong = answerFault(schema, value);
  return wrong === undefined ? { json: JSON.stringify(value, null, 2) } : { wrong };
}
