/** The gates of a workspace for `guild policy`: they judge and do not act. */
import { disk } from '../../adapters/disk/index.js';
import { workspaceFiles } from '../../adapters/workspace-files/index.js';
import { search } from '../../adapters/search/index.js';
import { judgePath, judgeSpelling, useOfTool } from '../../rules/policy/paths.js';

export { commandGate, loadPolicy, type Gate } from '../../adapters/policy-files/index.js';

type PathGate = (agent: string, tool: string, path: string) => { verdict: 'ok' | 'ask' | 'refuse'; reason: string };

export function pathGate(root: string): PathGate {
  const ground = workspaceFiles({
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
