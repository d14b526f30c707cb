/**
 * Other frameworks, measured next to Guildhall with `--peers`. They are installed on demand from
 * the lock file next to this one, into a cache of their own, one for each version of Node's binary
 * interface; Guildhall itself never needs them.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { THIS_CHECKOUT } from '../harness/builds.js';
import { cacheFolder } from '../harness/folders.js';
import type { Candidate } from '../harness/subjects.js';

const PEERS: { name: string; file: string; package: string }[] = [
  { name: 'AI SDK (in memory)', file: 'ai-sdk.mjs', package: 'ai' },
  { name: 'OpenAI Agents SDK (in memory)', file: 'openai-agents.mjs', package: '@openai/agents' },
  { name: 'LangGraph + SQLite', file: 'langgraph.mjs', package: '@langchain/langgraph' },
  { name: 'Mastra + LibSQL', file: 'mastra.mjs', package: '@mastra/core' },
  { name: 'Google ADK (in memory)', file: 'adk.mjs', package: '@google/adk' },
];

/** A peer that cannot be installed is named on standard error and left out. */
export function installPeers(): Candidate[] {
  const source = path.join(THIS_CHECKOUT, 'bench', 'peers');
  const lock = fs.readFileSync(path.join(source, 'package-lock.json'));
  const key = createHash('sha256').update(lock).update(process.versions.modules).digest('hex').slice(0, 12);
  const folder = path.join(cacheFolder(), `peers-${key}`);
  const done = path.join(folder, '.installed');
  fs.mkdirSync(folder, { recursive: true });
  for (const name of fs.readdirSync(source)) {
    if (/\.(mjs|json)$/.test(name)) fs.copyFileSync(path.join(source, name), path.join(folder, name));
  }
  if (!fs.existsSync(done)) {
    process.stderr.write('installing the peers …\n');
    const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
    if (status === 0) fs.writeFileSync(done, '');
    else process.stderr.write(`npm ci failed: ${stderr.trim().split('\n').slice(0, 3).join('; ')}\n`);
  }
  return PEERS.flatMap((peer): Candidate[] => {
    const file = path.join(folder, 'node_modules', peer.package, 'package.json');
    if (!fs.existsSync(file)) {
      process.stderr.write(`${peer.name} could not be installed and is left out\n`);
      return [];
    }
    const { version } = JSON.parse(fs.readFileSync(file, 'utf8')) as { version: string };
    return [{ name: `${peer.name} ${version}`, kind: 'peer', module: path.join(folder, peer.file) }];
  });
}
