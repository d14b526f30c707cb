/**
 * The checks of `guild doctor`. A finding is good, odd (works, with a limitation) or bad (promises
 * cannot be kept).
 */
import { folderFindings, programFindings, quarantineFinding, type Finding } from '../adapters/machine/index.js';
import { disk } from '../adapters/disk/index.js';
import { isWorkspace } from '../adapters/files/index.js';
import { shell } from '../adapters/shell/index.js';
import { openHistory } from './readers/history.js';
import { openRoster } from './readers/open-roster.js';

export async function examine(root: string, env: Record<string, string | undefined>): Promise<Finding[]> {
  const isThere = isWorkspace(disk(), root);
  return [
    ...programFindings(),
    sandbox(root, env),
    ...(isThere
      ? [...folderFindings(root), agents(root, env), history(root, env), quarantineFinding(root)]
      : [noWorkspace(root)]),
    keys(env),
  ];
}

function sandbox(root: string, env: Record<string, string | undefined>): Finding {
  const sandboxedShell = shell({ root, env });
  return {
    name: 'sandbox',
    verdict: sandboxedShell.isSandboxed() ? 'good' : 'odd',
    text: sandboxedShell.confinement(false),
  };
}

function history(root: string, env: Record<string, string | undefined>): Finding {
  const state = openHistory(root, env).state();
  if (state.on) return { name: 'history', verdict: 'good', text: 'kept in git, apart from your own repository' };
  return { name: 'history', verdict: 'odd', text: `not kept: ${state.why}` };
}

function agents(root: string, env: Record<string, string | undefined>): Finding {
  const { agents: found, problems } = openRoster(root, env);
  const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
  const wrong = problems.length > 0 ? `, ${counted(problems.length, 'problem')} (guild check shows more)` : '';
  const text = `${counted(found.size, 'agent')}${wrong}`;
  return { name: 'agents', verdict: problems.length > 0 || found.size === 0 ? 'odd' : 'good', text };
}

function keys(env: Record<string, string | undefined>): Finding {
  const names = [
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'GEMINI_API_KEY',
    'OPENAI_BASE_URL',
  ];
  const set = names.filter((name) => env[name]);
  if (set.length > 0) return { name: 'keys', verdict: 'good', text: `set: ${set.join(', ')}` };
  return {
    name: 'keys',
    verdict: 'odd',
    text: 'no model key in the environment; only scripted and local models can be used',
  };
}

function noWorkspace(root: string): Finding {
  return { name: 'workspace', verdict: 'odd', text: `${root} is not a workspace; guild init creates one` };
}
