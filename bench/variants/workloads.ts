/**
 * The measured workloads, in the same words for all subjects. A subject is one way to do them: a
 * raw loop, a build of Guildhall, or another framework (in peers/, which import nothing from here).
 */

export type WorkloadName = 'w1' | 'w2' | 'w3' | 'talk';

export const TITLES: Record<WorkloadName, string> = {
  w1: 'one run: two model calls, one tool',
  w2: 'eight advisors and a synthesis',
  w3: 'a handoff chain of five',
  talk: 'one shared conversation',
};

export const ADVISORS = 8;
export const STAGES = 5;

export interface SubjectOptions {
  /** The model server. */
  url: string;
  /** An empty folder; for Guildhall a prepared workspace. */
  folder: string;
  /** The module to import, for Guildhall. */
  entry?: string;
}

export interface Subject {
  run(workload: WorkloadName): Promise<unknown>;
  close?(): Promise<void>;
  /** The longest time by which files were behind the journal; undefined if it is not reported. */
  worstLagMs?(): number | undefined;
}

export interface SubjectModule {
  open(options: SubjectOptions): Promise<Subject> | Subject;
}

export const READER = { system: 'You answer from files.', request: 'Which runtime do we use?' };
export const ADVISOR = { system: 'You advise.', request: 'Do we upgrade?' };
export const BOSS = { system: 'You decide.' };
export const STAGE = { system: 'You go on.' };
export const TALKER = { system: 'You talk.', request: 'And what else should we know about it?' };
export const FACTS = `The runtime is podman. ${'It is started by the unit that the operators keep. '.repeat(7)}\n`;
