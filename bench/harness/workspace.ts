/** Workspaces for the benchmarks, with one agent that reads a file and answers. */
import fs from 'node:fs';
import path from 'node:path';
import { acceptTrust } from '../../src/app/trust/trust.js';

export const AGENT = 'reader';

interface Settings {
  /** The model server; by default an address that refuses connections. */
  url?: string;
  limits?: Record<string, number>;
}

export function writeWorkspace(root: string, settings: Settings = {}): string {
  const limits = Object.entries(settings.limits ?? {}).map(([key, value]) => `  ${key}: ${value}\n`);
  writeFile(
    root,
    'guild.yaml',
    `model: bench/model\ngit: false\nproviders:\n  bench: { kind: openai-compatible, base_url: "${settings.url ?? 'http://127.0.0.1:9/v1'}" }\n` +
      (limits.length > 0 ? `limits:\n${limits.join('')}` : ''),
  );
  writeFile(
    root,
    `agents/${AGENT}.md`,
    `---\ndescription: Answers from files\ntools: [read_file]\n---\nYou answer from files.\n`,
  );
  writeFile(root, 'memory/facts.md', FACTS);
  // Agents of a workspace that nobody trusts do not work.
  acceptTrust(root, process.env);
  return root;
}

const FACTS = `The runtime is podman. ${'It is started by the unit that the operators keep. '.repeat(7)}\n`;

/** Writes task files as a person would, and returns their ids. */
export function dropTasks(root: string, count: number, fields: object = {}): string[] {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const id = `t-${String(n).padStart(6, '0')}`;
    writeFile(
      root,
      `tasks/pending/${id}.json`,
      JSON.stringify({ description: 'Which runtime do we use?', to: AGENT, ...fields }),
    );
    ids.push(id);
  }
  return ids;
}

/** Creates the file's folder only if it is missing: benchmarks write up to 100,000 files. */
export function writeFile(root: string, file: string, text: string): void {
  const full = path.join(root, file);
  try {
    fs.writeFileSync(full, text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    fs.mkdirSync(path.dirname(full), { recursive: true });
    fs.writeFileSync(full, text);
  }
}
