/** The machine and the workspace, as prompts describe them. */
import os from 'node:os';
import path from 'node:path';
import type { Surroundings } from '../../rules/prompts/orientation.js';

const SYSTEMS: Readonly<Record<string, string>> = { Linux: 'Linux', Darwin: 'macOS', Windows_NT: 'Windows' };

export function surroundings(root: string): Surroundings {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { timeZone, system: systemName(), workspace: path.basename(root) };
}

export function systemName(): string {
  return SYSTEMS[os.type()] ?? os.type();
}
