/** Runs a Node script to its end: how long it took, and what it and its children used. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { peakMemoryKb, reapedCpuMs } from './usage.js';

export interface Ended {
  ms: number;
  /** In steps of 10 ms, because the system counts in such steps. */
  cpuMs: number;
  /** Sampled while it runs, so a peak shortly before the end may be missed. */
  peakMb: number;
  out: string;
}

interface Limits {
  /** It is killed after this time, and the result says so. */
  timeoutMs?: number;
}

export async function runProcess(
  args: readonly string[],
  { timeoutMs }: Limits = {},
): Promise<Ended & { isCut: boolean }> {
  const cpuBefore = reapedCpuMs();
  const from = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err, peak, isCut] = ['', '', 0, false];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const sampler = setInterval(() => (peak = Math.max(peak, peakMemoryKb(child.pid!) ?? 0)), 10);
  const cut =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          isCut = true;
          child.kill('SIGKILL');
        }, timeoutMs);
  const [code] = (await once(child, 'exit')) as [number | null];
  const ms = performance.now() - from;
  clearInterval(sampler);
  clearTimeout(cut);
  if (code !== 0 && !isCut) throw new Error(`${args.join(' ')} exited with ${String(code)}: ${err}`);
  return { ms, cpuMs: reapedCpuMs() - cpuBefore, peakMb: peak / 1024, out, isCut };
}
