/** Workspaces for the benchmarks: one agent that reads a file and answers. */
import fs from 'node:fs';
import path from 'node:path';

export const AGENT = 'reader';

export function layWorkspace(root: string, given: { url?: string; limits?: Record<string, number> } = {}): string {
  const limits = Object.entries(given.limits ?? {}).map(([key, value]) => `  ${key}: ${value}\n`);
  put(
    root,
    'guild.yaml',
    `model: bench/model\ngit: false\nproviders:\n  bench: { kind: openai-compatible, base_url: "${given.url ?? 'http://127.0.0.1:9/v1'}" }\n` +
      (limits.length > 0 ? `limits:\n${limits.join('')}` : ''),
  );
  put(
    root,
    `agents/${AGENT}.md`,
    `---\ndescription: Answers from files\ntools: [read_file]\n---\nYou answer from files.\n`,
  );
  put(root, 'memory/facts.md', FACTS);
  return root;
}

export const FACTS = `The runtime is podman. ${'It is started by the unit that the operators keep. '.repeat(7)}\n`;

/** Task files as a person drops them. */
export function dropTasks(root: string, count: number, given: object = {}): string[] {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const id = `t-${String(n).padStart(6, '0')}`;
    put(
      root,
      `tasks/pending/${id}.json`,
      JSON.stringify({ description: 'Which runtime do we use?', to: AGENT, ...given }),
    );
    ids.push(id);
  }
  return ids;
}

const made = new Set<string>();

export function put(root: string, file: string, text: string): void {
  const full = path.join(root, file);
  const folder = path.dirname(full);
  if (!made.has(folder)) fs.mkdirSync(folder, { recursive: true });
  made.add(folder);
  fs.writeFileSync(full, text);
}
