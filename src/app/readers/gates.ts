/** The gates of a workspace for `guild policy`: they judge and do not act. */
import { disk } from '../../adapters/disk/index.js';
import type { Operand } from '../../adapters/policy-files/index.js';
import { operandsOf } from '../../adapters/policy-files/operands.js';
import { shell } from '../../adapters/shell/index.js';
import { workspaceFiles } from '../../adapters/workspace-files/index.js';
import { search } from '../../adapters/search/index.js';
import type { WorkspaceFiles } from '../../ports/workspace-files.js';
import { judgePath, judgeSpelling, useOfTool } from '../../rules/policy/paths.js';

export { commandGate, loadPolicy, type Gate } from '../../adapters/policy-files/index.js';

/**
 * `off` looks up operands in the workspace; `on` does not need that; `machine` asks whether this
 * machine has a sandbox.
 */
export function operandGate(root: string, sandbox: 'on' | 'off' | 'machine'): ((agent: string) => Operand) | undefined {
  const isSandboxed = sandbox === 'machine' ? shell({ root, env: process.env }).isSandboxed() : sandbox === 'on';
  return isSandboxed ? undefined : (agent) => operandsOf(root, filesOf(root), agent);
}

type PathGate = (agent: string, tool: string, path: string) => { verdict: 'ok' | 'ask' | 'refuse'; reason: string };

export function pathGate(root: string): PathGate {
  const ground = filesOf(root);
  return (agent, tool, path) => {
    const use = useOfTool(tool);
    if (use === undefined) return { verdict: 'refuse', reason: `${tool} is not a file tool` };
    return ground.judge(agent, use, path);
  };
}

function filesOf(root: string): WorkspaceFiles {
  return workspaceFiles({
    root,
    disk: disk(),
    judge: { spelling: judgeSpelling, path: judgePath },
    search: search({ kind: 'lexical' }),
  });
}
