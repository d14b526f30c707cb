/** What somebody wants of the engine. Every surface only submits these; the engine is the one writer of state. */
import type { Answer } from './approval.js';
import type { Problem } from '../problem.js';

export type Intent =
  | {
      kind: 'cancel';
      id: string;
      task: string;
      reason?: string;
      by: string;
      at: string;
      /** With what the task ends; absent: `cancelled`, with the reason. */
      problem?: Problem;
      /** It is cancelled so that others can go on who waited for each other in a circle. */
      deadlock?: {
        cycle: string[];
        victim: string;
        rule: string;
        /** The task in which the coordinator sees to what fails by it. */
        handled?: string;
      };
    }
  /** Ends with what it has: each conversation under it gives one last answer. */
  | { kind: 'stop'; id: string; task: string; by: string; at: string }
  | { kind: 'retry'; id: string; task: string; by: string; at: string }
  | { kind: 'answer'; id: string; task: string; answer: Omit<Answer, 'at'>; by: string; at: string }
  | { kind: 'tell'; id: string; task: string; text: string; by: string; at: string };
