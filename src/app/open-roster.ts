/** The agents of any folder, workspace or not: for `guild check` on somebody else's agents too. */
import path from 'node:path';
import { disk } from '../adapters/disk.js';
import type { Agent } from '../domain/agent.js';
import type { Problem } from '../domain/problem.js';
import { parseConfig } from '../text/config-yaml.js';
import { resolveModels } from '../rules/models.js';
import { roster } from './roster.js';

export interface RosterChecked {
  agents: ReadonlyMap<string, Agent>;
  problems: Problem[];
  warnings: Problem[];
  /** Files that were looked at. */
  files: number;
}

export function openRoster(root: string, env: Record<string, string | undefined> = process.env): RosterChecked {
  const on = disk();
  const agents = roster(on, root);
  const { problems, warnings, files } = agents.check();
  const read = on.read(path.join(root, 'guild.yaml'));
  const config = parseConfig(read.kind === 'file' ? read.bytes.toString('utf8') : '', 'guild.yaml', env);
  const models = [...agents.all().values()].flatMap((agent) => {
    const found = resolveModels(agent, config.config);
    return 'code' in found ? [found] : [];
  });
  return {
    agents: agents.all(),
    problems: [...config.problems, ...problems, ...models],
    warnings: [...config.warnings, ...warnings],
    files: files + (read.kind === 'file' ? 1 : 0),
  };
}
