/**
 * A dependency: something a task needs before it can go on, asked for by type. It is a task with role `dependency`; what is asked stands in
 * its context under `dependency`, and its result is a Resolution as JSON.
 */
export const DEPENDENCY_TYPES = ['data', 'expertise', 'resource', 'approval', 'sequence'] as const;
export type DependencyType = (typeof DEPENDENCY_TYPES)[number];

export const URGENCIES = ['low', 'normal', 'high', 'critical'] as const;
export type Urgency = (typeof URGENCIES)[number];

export type DependencyStatus = 'pending' | 'resolving' | 'resolved' | 'partial' | 'failed';

export interface Dependency {
  type: DependencyType;
  /** What is needed, in words. */
  need: string;
  /** data: what kind of data. */
  dataType?: string;
  /** expertise: all of these. */
  expertise?: string[];
  /** resource: its name; held by one task at a time. */
  resource?: string;
  /** sequence: the task that must end first. */
  after?: string;
  /** approval: the agent that reviews; absent: the human. */
  reviewer?: string;
  urgency: Urgency;
  /** ISO time. */
  deadline?: string;
}

export interface Resolution {
  status: 'resolved' | 'partial' | 'failed';
  provider: string;
  data?: string;
  nextSteps?: string[];
}
