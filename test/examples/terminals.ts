/** Terminals that each run some of a workspace's agents, as people start them. */
import fs from 'node:fs';
import path from 'node:path';
import { whileRunning, type Place, type Spawned } from '../kit/guild.js';
import { until } from '../kit/until.js';

/**
 * One process for each list of agents. The pending task is added once all of them are running: an
 * agent without a process is not asked for a bid, an offer or a vote.
 */
export async function startTogether(workspace: Place, terminals: string[][], task: string): Promise<Spawned[]> {
  const file = `tasks/pending/${task}.json`;
  const text = workspace.read(file);
  fs.rmSync(path.join(workspace.root, file));
  const peers = terminals.map((names) => startAgents(workspace, names));
  const isThere = (name: string): boolean => name.endsWith('.json');
  await whileRunning(
    peers,
    until(() => workspace.list('agents/live').filter(isThere).length === peers.length),
  );
  workspace.put(file, text);
  return peers;
}

export function startAgents(workspace: Place, names: string[]): Spawned {
  return workspace.spawn('agent', 'start', ...names, '-q');
}

export async function stopAgents(peers: Spawned[]): Promise<void> {
  for (const { child } of peers) child.kill('SIGTERM');
  for (const { ended } of peers) await ended;
}
