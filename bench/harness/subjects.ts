/** Who is measured, each in a new process: raw loops, this build, an older one, frameworks. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Build } from './builds.js';
import type { Testbed } from './rows.js';
import { shippedWorkspace } from './shipped-workspace.js';
import type { Measured, Order } from './subject-child.js';

export interface Candidate {
  name: string;
  kind: 'raw' | 'ours' | 'before' | 'peer';
  /** The module of the subject. */
  module: string;
  build?: Build;
}

const variant = (name: string): string => fileURLToPath(new URL(`../variants/${name}.js`, import.meta.url));

export const RAW_FETCH: Candidate = { name: 'raw fetch loop', kind: 'raw', module: variant('raw-fetch') };
export const RAW_JOURNAL: Candidate = {
  name: 'raw fetch loop + journal, fdatasync',
  kind: 'raw',
  module: variant('raw-journal'),
};
export const RAW_HTTP: Candidate = { name: 'raw node:http loop', kind: 'raw', module: variant('raw-http') };

/** The builds of Guildhall: this one, and the older one if there is one to compare with. */
export function builds({ build, older }: Testbed): Candidate[] {
  const module = variant('guildhall');
  const ours: Candidate = { name: 'Guildhall', kind: 'ours', module, build };
  return older === undefined ? [ours] : [ours, { name: 'Guildhall before', kind: 'before', module, build: older }];
}

type Settings = Pick<Order, 'workload' | 'runs'> &
  Partial<Order> & { limits?: Record<string, number>; timeoutMs?: number };

export interface MeasuredSubject extends Measured {
  /** Bytes sent to the model per run, warm-ups included. */
  promptBytes: number;
}

/** Measures a subject once, in a new process and a new folder. */
export async function measure(testbed: Testbed, who: Candidate, settings: Settings): Promise<MeasuredSubject> {
  const { limits, timeoutMs, ...rest } = settings;
  const { model } = testbed;
  const empty = rest.folder ?? testbed.folder(who.kind);
  const folder =
    who.build === undefined || rest.folder !== undefined
      ? empty
      : shippedWorkspace(who.build, empty, { url: model.url, ...(limits ? { limits } : {}) });
  const order: Order = {
    subject: who.module,
    url: model.url,
    warmUps: WARM_UPS,
    together: false,
    ...(who.build === undefined ? {} : { entry: who.build.entry }),
    ...rest,
    folder,
  };
  const before = await model.served();
  const child = fileURLToPath(new URL('subject-child.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [child, JSON.stringify(order)], {
    maxBuffer: 1 << 26,
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  });
  const served = await model.served();
  const measured = JSON.parse(stdout.trim().split('\n').at(-1)!) as Measured;
  return { ...measured, promptBytes: (served.bytes - before.bytes) / (order.warmUps + order.runs) };
}

/** Untimed warm-up runs for each subject. */
const WARM_UPS = 10;
