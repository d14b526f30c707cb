/** The reply to a model that named an unknown agent. */
import { noAgent } from '../../domain/nearest.js';
import { toolProblem } from './define-tool.js';
import type { ToolReply } from './tool.js';

/** `choices`: the rest of the sentence, in place of the list of names. */
export function unknownAgent(name: string, known: Iterable<string>, choices?: string): ToolReply {
  return toolProblem('unknown_agent', noAgent(name, known, choices));
}
