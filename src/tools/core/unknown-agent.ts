/** Tells the model that it named an agent that does not exist, and which there are. */
import { nearest } from '../../domain/nearest.js';
import { toolProblem } from './define-tool.js';
import type { ToolReply } from './tool.js';

/** `instead`: the choices, as the rest of the sentence. */
export function unknownAgent(name: string, choices: Iterable<string>, instead?: string): ToolReply {
  const names = [...choices].sort();
  const near = nearest(name, names);
  const meant = near === undefined ? '' : `, did you mean ${near}?`;
  const list = instead ?? `the agents are: ${names.join(', ')}`;
  return toolProblem('unknown_agent', `there is no agent ${JSON.stringify(name)}${meant}; ${list}`);
}
