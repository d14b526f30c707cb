/**
 * The checks of `guild doctor`. A finding is good, odd (works, with a limitation) or bad (promises
 * cannot be kept).
 */
import { folderFindings, programFindings, quarantineFinding, type Finding } from '../adapters/machine/index.js';
import { disk } from '../adapters/disk/index.js';
import { isWorkspace, journalAdoption, type HeldJournal } from '../adapters/files/index.js';
import { isPostgresAddress } from '../adapters/ledger/postgres/address.js';
import { inspectStore } from '../adapters/ledger/postgres/inspect.js';
import { processes } from '../adapters/processes/index.js';
import { shell } from '../adapters/shell/index.js';
import type { Env } from '../domain/config/env.js';
import { storeOf } from './far/open-store.js';
import { storeAddress } from './machines/store-address.js';
import { openHistory } from './readers/history.js';
import { requireWorkspace } from './readers/no-workspace.js';
import { readConfig } from './readers/read-config.js';
import { openRoster } from './readers/open-roster.js';
import { asProblem, problemError } from '../domain/problem.js';
import { lookAtTrust, rightsOf } from './trust/trust.js';

export async function examine(root: string, env: Env): Promise<Finding[]> {
  const isThere = isWorkspace(disk(), root);
  return [
    ...programFindings(),
    sandbox(root, env),
    ...(isThere
      ? [
          ...folderFindings(root),
          rights(root, env),
          trusted(root, env),
          agents(root, env),
          await history(root, env),
          quarantineFinding(root),
          ...journals(root),
          ...(await store(root, env)),
        ]
      : [notThere(root)]),
    keys(env),
  ];
}

/**
 * Without `peer`, takes every journal that could not be read. A journal whose process may still be
 * alive is only taken if `peer` names it.
 */
export async function adoptJournals(root: string, peer: string | undefined): Promise<HeldJournal[]> {
  requireWorkspace(disk(), root);
  const { held, adopt } = journalAdoption(root, disk(), processes());
  const chosen = held().filter((journal) =>
    peer === undefined ? journal.why === 'unreadable' : journal.peer === peer,
  );
  if (peer !== undefined && chosen.length === 0)
    throw problemError('not_found', `no held journal is called ${JSON.stringify(peer)}`, {
      hint: 'guild doctor names them',
    });
  for (const journal of chosen) await adopt(journal);
  return chosen;
}

function journals(root: string): Finding[] {
  const found = journalAdoption(root, disk(), processes()).held();
  if (found.length === 0) return [{ name: 'journals', verdict: 'good', text: 'all can be replayed' }];
  return found.map(({ peer, why, host, pid }) => ({
    name: 'journals',
    verdict: 'odd',
    text:
      why === 'unreadable'
        ? `the journal of ${peer} cannot be replayed, and its tasks are held; guild doctor --adopt ${peer} continues them from their files`
        : `${peer} (pid ${pid} on ${host}) cannot be judged from here, and keeps its tasks; if it has ended, guild doctor --adopt ${peer} hands them on`,
  }));
}

/** Findings about a workspace on several machines. */
async function store(root: string, env: Env): Promise<Finding[]> {
  const { config } = readConfig(disk(), root, env);
  if (!isPostgresAddress(storeOf(config, env))) return [];
  try {
    return await inspectStore(storeAddress(root, env));
  } catch (thrown) {
    const { message, hint } = asProblem(thrown);
    return [{ name: 'store', verdict: 'bad', text: [message, hint].filter(Boolean).join('; ') }];
  }
}

function sandbox(root: string, env: Env): Finding {
  const sandboxedShell = shell({ root, env });
  return {
    name: 'sandbox',
    verdict: sandboxedShell.isSandboxed() ? 'good' : 'odd',
    text: sandboxedShell.refusal() ?? sandboxedShell.confinement(undefined),
  };
}

function rights(root: string, env: Env): Finding {
  const [first, ...others] = rightsOf(root, env);
  if (first === undefined) return { name: 'rights', verdict: 'good', text: 'only you can write the rules' };
  const more = others.length > 0 ? `; ${others.length} more like this` : '';
  return { name: 'rights', verdict: 'bad', text: `${first.message}; ${first.hint ?? ''}${more}` };
}

function trusted(root: string, env: Env): Finding {
  try {
    const { state } = lookAtTrust(root, env);
    if (state === 'trusted') return { name: 'trust', verdict: 'good', text: 'you trust everything in it that acts' };
    return { name: 'trust', verdict: 'odd', text: `${state}: guild trust shows which parts of the workspace can act` };
  } catch (thrown) {
    return { name: 'trust', verdict: 'bad', text: asProblem(thrown).message };
  }
}

async function history(root: string, env: Env): Promise<Finding> {
  const state = await openHistory(root, env).then(
    (opened) => opened.state(),
    (thrown: unknown) => ({ on: false as const, why: asProblem(thrown).message }),
  );
  if (state.on) return { name: 'history', verdict: 'good', text: 'kept in git, apart from your own repository' };
  return { name: 'history', verdict: 'odd', text: `not kept: ${state.why}` };
}

function agents(root: string, env: Env): Finding {
  const { agents: found, problems } = openRoster(root, env);
  const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
  const wrong = problems.length > 0 ? `, ${counted(problems.length, 'problem')} (guild check shows more)` : '';
  const text = `${counted(found.size, 'agent')}${wrong}`;
  return { name: 'agents', verdict: problems.length > 0 || found.size === 0 ? 'odd' : 'good', text };
}

function keys(env: Env): Finding {
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

function notThere(root: string): Finding {
  return { name: 'workspace', verdict: 'odd', text: `${root} is not a workspace; guild init creates one` };
}
