/** A workspace as `guild init` leaves it, history included, with the agents of the workloads. */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ADVISOR, ADVISORS, BOSS, FACTS, READER, STAGE, STAGES, TALKER } from '../variants/workloads.js';
import type { Build } from './builds.js';
import { writeFile } from './workspace.js';

interface Settings {
  /** The model server; absent: a script, which answers every agent. */
  url?: string;
  limits?: Record<string, number>;
}

export function shippedWorkspace(build: Build, folder: string, settings: Settings = {}): string {
  const root = path.join(folder, 'team');
  guild(build, 'init', root, '--quiet');
  const provider =
    settings.url === undefined
      ? `bench: { kind: scripted, script: script.yaml }`
      : `bench: { kind: openai-compatible, base_url: "${settings.url}" }`;
  const limits = Object.entries(settings.limits ?? {}).map(([key, value]) => `  ${key}: ${value}\n`);
  fs.appendFileSync(
    path.join(root, 'guild.yaml'),
    `\nmodel: bench/model\nproviders:\n  ${provider}\n${limits.length > 0 ? `limits:\n${limits.join('')}` : ''}`,
  );
  if (settings.url === undefined) writeFile(root, 'script.yaml', '- say: The runtime is podman.\n');
  writeFile(root, 'memory/facts.md', FACTS);
  addAgents(root);
  trust(build, root);
  return root;
}

/** Trusts the workspace as it is now, as a person would. Older builds need no trust. */
function trust(build: Build, root: string): void {
  const { stdout } = spawnSync(process.execPath, [build.guild, 'trust', '--json', '-w', root], { encoding: 'utf8' });
  const digest = /"digest":"(\w+)"/.exec(stdout)?.[1];
  if (digest !== undefined) guild(build, 'trust', '--digest', digest, '-w', root);
}

/** Runs a command of this build and returns what it prints. */
export function guild(build: Build, ...args: string[]): string {
  return execFileSync(process.execPath, [build.guild, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The agents of the workloads. */
export function addAgents(root: string): void {
  const names = Array.from({ length: ADVISORS }, (_, n) => `advisor-${n + 1}`);
  const add = (name: string, front: string, prompt: string): void =>
    writeFile(root, `agents/${name}.md`, `---\n${front}\n---\n${prompt}\n`);
  add('reader', 'description: Answers from files\ntools: [read_file]', READER.system);
  for (const name of names) add(name, 'description: Advises', ADVISOR.system);
  add('boss', `description: Decides\nadvisors: [${names.join(', ')}]`, BOSS.system);
  for (let n = 1; n <= STAGES; n++) {
    const next = n < STAGES ? `\nhandoff: stage-${n + 1}` : '';
    add(`stage-${n}`, `description: Stage ${n}${next}`, STAGE.system);
  }
  add('talker', 'description: Talks\nsession: shared', TALKER.system);
}
