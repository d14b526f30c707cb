/**
 * Limits on memory and processes of a whole command, where systemd manages control groups. Resource
 * limits hold for each process alone; a control group holds for all of them and for their tmpfs.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { PATH } from './environment.js';

interface GroupLimits {
  memoryBytes: number;
  processes: number;
}

/** The words that start a command in a limited group; empty if there is no systemd. */
export function cgroupArgs(limits: GroupLimits): string[] {
  if (!fs.existsSync('/run/systemd/system') || process.getuid?.() !== 0) return [];
  const args = scopeArgs(limits);
  const tried = spawnSync(args[0]!, [...args.slice(1), 'true'], { env: { PATH }, timeout: 5000 });
  return tried.status === 0 ? args : [];
}

export function scopeArgs({ memoryBytes, processes }: GroupLimits): string[] {
  const limits = [`MemoryMax=${memoryBytes}`, 'MemorySwapMax=0', `TasksMax=${processes}`];
  return ['systemd-run', '--scope', '--quiet', '--collect', ...limits.flatMap((limit) => ['-p', limit]), '--'];
}
