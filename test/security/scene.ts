/**
 * A workspace for the proofs of the security review: one executor, a scripted model and a private
 * note. A proof plays an attack through the real command line and checks the outcome.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { place, type Given, type Place, type Ran } from '../kit/guild.js';

export const NOTE = 'the office safe code is 4711';

export const SANDBOX_OFF: Given = { env: { GUILD_SANDBOX: 'off' } };

const EXECUTOR = `---
description: Does work
tools: [read_file, list_directory, search_files, write_file, create_directory, execute_command, final_report]
---
You are the executor.
`;

/** `script` is the YAML of the scripted model; `files` add to or replace the default ones. */
export function scene(t: TestContext, script: string, files: Record<string, string> = {}): Place {
  return place(t, {
    'guild.yaml':
      'model: s/x\nproviders:\n  s: {kind: scripted, script: script.yaml}\ndefault_agent: executor\ngit: {enabled: false}\n',
    'agents/executor.md': EXECUTOR,
    'memory/private-notes.md': `shared notes: ${NOTE}\n`,
    'script.yaml': script,
    ...files,
  });
}

/** The person says yes to everything on the ballot. */
export function tickAll(workspace: Place): void {
  const ballot = workspace.read('tasks/approvals.task.md');
  workspace.put('tasks/approvals.task.md', ballot.replace(/^- \[_\]/gm, '- [x]'));
}

export function ballotOf(workspace: Place): string {
  return exists(workspace, 'tasks/approvals.task.md') ? workspace.read('tasks/approvals.task.md') : '';
}

/** How many entries wait for an answer. */
export function openEntries(workspace: Place): number {
  return [...ballotOf(workspace).matchAll(/^- \[_\]/gm)].length;
}

export function exists(workspace: Place, file: string): boolean {
  return fs.existsSync(path.join(workspace.root, file));
}

export async function pump(workspace: Place, given: Given = {}): Promise<Ran> {
  return workspace.guildWith(given, 'pump');
}
