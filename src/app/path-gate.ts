/** The path rules on a real folder, to be asked without acting. */
import { disk } from '../adapters/disk.js';
import { folder } from '../adapters/folder.js';
import { search } from '../adapters/search.js';
import { judgePath, judgeSpelling, useOfTool } from '../rules/policy-path.js';

export type PathGate = (
  agent: string,
  tool: string,
  path: string,
) => { verdict: 'ok' | 'ask' | 'refuse'; reason: string };

export function pathGate(root: string): PathGate {
  const ground = folder({
    root,
    disk: disk(),
    judge: { spelling: judgeSpelling, path: judgePath },
    search: search({ kind: 'lexical' }),
  });
  return (agent, tool, path) => {
    const use = useOfTool(tool);
    if (use === undefined) return { verdict: 'refuse', reason: `${tool} is not a file tool` };
    return ground.judge(agent, use, path);
  };
}
