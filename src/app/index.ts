/**
 * Guildhall as a library.
 *
 * ```ts
 * import { openWorkspace } from 'guildhall';
 *
 * const workspace = await openWorkspace('my-team');
 * const { state, task } = await workspace.run('planner', 'What should we do first?');
 * console.log(state, task.result);
 * await workspace.close();
 * ```
 */
import type { OpenOptions } from './open-options.js';
import type { Workspace } from './open-workspace.js';

/** The program is loaded by the first call, so that an import costs next to nothing. */
export async function openWorkspace(folderPath: string, options: OpenOptions = {}): Promise<Workspace> {
  return (await import('./reopen.js')).openWorkspace(folderPath, options);
}

export type { OpenOptions } from './open-options.js';
export type { Workspace } from './open-workspace.js';
export type { NewTask } from './new-task.js';
export type { Agent } from '../domain/agent/agent.js';
export type { Config } from '../domain/config/config.js';
export type { Event, EventName } from '../domain/event.js';
export type { Peer } from '../domain/peer.js';
export { ProblemError, problemText, type Problem, type ProblemCode } from '../domain/problem.js';
export type { Message, Session, ToolCall } from '../domain/session/session.js';
export type { EndedState, OpenState, Placed, Task, TaskState } from '../domain/task/task.js';
export type { Usage } from '../domain/budget/usage.js';
export type { PumpReport } from '../engine/pass/pump.js';
export type { Watchers } from '../engine/core/context.js';
export type { Model, ModelAnswer, ModelFailure, ModelReply, ModelRequest } from '../ports/model.js';
