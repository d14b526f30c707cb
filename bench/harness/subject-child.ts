/**
 * The process in which one subject is measured; its only argument is the order, in JSON. It prints
 * what it measured as one line of JSON. It imports nothing else, so it costs all subjects the same.
 */
import { pathToFileURL } from 'node:url';
import type { SubjectModule, SubjectOptions, WorkloadName } from '../variants/workloads.js';
import { ownUsage } from './usage.js';

export interface Order extends SubjectOptions {
  /** The module of the subject. */
  subject: string;
  workload: WorkloadName;
  warmUps: number;
  runs: number;
  /** All runs are started together instead of back to back. */
  together: boolean;
  /** Only with `together`: memory is measured while all runs wait for their first answer. */
  held?: boolean;
}

export interface Measured {
  /** Each run; empty if they ran together. */
  ms: number[];
  /** Processor time of this process during each run; empty if they ran together. */
  ownCpuMs: number[];
  /** From the start of the first timed run to the end of the last one. */
  totalMs: number;
  /** Processor time per run of the process and its children, until everything is closed. */
  cpuMs: number;
  /** Bytes written to disk per run, in pages; undefined if the system does not say. */
  writtenBytes: number | undefined;
  /** Growth of the largest resident memory, per run. */
  memoryKb: number;
  /** Growth of the resident memory until all runs waited for their first answer, per run. */
  heldKb: number | undefined;
  worstLagMs: number | undefined;
}

const order = JSON.parse(process.argv[2]!) as Order;
const { open } = (await import(pathToFileURL(order.subject).href)) as SubjectModule;
const subject = await open(order);
for (let n = 0; n < order.warmUps; n++) await subject.run(order.workload);

const memoryBefore = residentKb();
const before = ownUsage();
let heldKb: number | undefined;
const from = performance.now();
const { ms, ownCpuMs } = order.together ? await allTogether() : await backToBack();
const totalMs = performance.now() - from;
const memoryKb = (process.resourceUsage().maxRSS - memoryBefore) / order.runs;
const worstLagMs = subject.worstLagMs?.();
await subject.close?.();
const after = ownUsage();

const measured: Measured = {
  ms,
  ownCpuMs,
  totalMs,
  cpuMs: (after.cpuMs - before.cpuMs) / order.runs,
  writtenBytes: after.writtenBytes === undefined ? undefined : (after.writtenBytes - before.writtenBytes!) / order.runs,
  memoryKb,
  heldKb,
  worstLagMs,
};
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit());

type Times = Pick<Measured, 'ms' | 'ownCpuMs'>;

async function backToBack(): Promise<Times> {
  const times: Times = { ms: [], ownCpuMs: [] };
  for (let n = 0; n < order.runs; n++) {
    const start = performance.now();
    const cpuStart = process.cpuUsage();
    await subject.run(order.workload);
    const { user, system } = process.cpuUsage(cpuStart);
    times.ms.push(performance.now() - start);
    times.ownCpuMs.push((user + system) / 1000);
  }
  return times;
}

async function allTogether(): Promise<Times> {
  if (order.held === true) await askServer(`hold/${order.runs}`);
  const all = Promise.all(Array.from({ length: order.runs }, () => subject.run(order.workload)));
  if (order.held === true) {
    await Promise.race([all, askServer('held')]);
    heldKb = (residentKb() - memoryBefore) / order.runs;
    await askServer('release');
  }
  await all;
  return { ms: [], ownCpuMs: [] };
}

async function askServer(path: string): Promise<void> {
  await (await fetch(new URL(`/${path}`, order.url))).text();
}

function residentKb(): number {
  return process.memoryUsage.rss() / 1024;
}
