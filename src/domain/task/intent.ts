/** A request to the engine. Every surface only submits these; only the engine writes state. */
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
      /** The problem that the task ends with; default: `cancelled`, with the reason. */
      problem?: Problem;
      /** Set if the task is cancelled to break a cycle of waits. */
      deadlock?: {
        cycle: string[];
        victim: string;
        rule: string;
        /** The task in which the coordinator handles the failed work. */
        handled?: string;
      };
    }
  /** The task ends with its results so far: each conversation under it gives one last answer. */
  | { kind: 'stop'; id: string; task: string; by: string; at: string }
  | { kind: 'retry'; id: string; task: string; by: string; at: string }
  /** Gives the task to another agent, if it has not started. `taint`: as for a message. */
  | { kind: 'assign'; id: string; task: string; to: string; by: string; at: string; taint?: string[] }
  /** `seen`: the digest of the request as the person saw it. An approval is signed. */
  | { kind: 'answer'; id: string; task: string; seen: string; answer: Answer; by: string; at: string }
  /**
   * `taint`: the outside sources that influenced the sender. `continues`: it is a message from
   * outside, and continues the conversation if the task has ended. A person's message always does.
   */
  | {
      kind: 'tell';
      id: string;
      task: string;
      text: string;
      by: string;
      at: string;
      taint?: string[];
      continues?: true;
    };
