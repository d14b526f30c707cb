/** A build of Guildhall through its library: every run is one `workspace.run()`. */
import { pathToFileURL } from 'node:url';
import type * as Guildhall from '../../src/app/index.js';
import { ADVISOR, READER, TALKER, type Subject, type SubjectOptions, type WorkloadName } from './workloads.js';

const REQUESTS: Record<WorkloadName, [agent: string, text: string]> = {
  w1: ['reader', READER.request],
  w2: ['boss', ADVISOR.request],
  w3: ['stage-1', ADVISOR.request],
  talk: ['talker', TALKER.request],
};

export async function open({ folder, entry }: SubjectOptions): Promise<Subject> {
  const { openWorkspace } = (await import(pathToFileURL(entry!).href)) as typeof Guildhall;
  const workspace = await openWorkspace(folder);
  return {
    async run(workload) {
      const { state, task } = await workspace.run(...REQUESTS[workload]);
      if (state !== 'completed') throw new Error(`the task ended as ${state}: ${task.error?.message ?? ''}`);
    },
    close: () => workspace.close(),
    worstLagMs: () => worstLagMs(workspace),
  };
}

/**
 * The one place that reads how far files were behind the journal: `stats().worstLagMs` of a
 * workspace, for builds that have it.
 */
function worstLagMs(workspace: object): number | undefined {
  const { stats } = workspace as { stats?: () => { worstLagMs?: unknown } };
  const lag = stats?.call(workspace).worstLagMs;
  return typeof lag === 'number' ? lag : undefined;
}
