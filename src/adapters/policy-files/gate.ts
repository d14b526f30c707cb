/**
 * Combines the command policy, the path rules and the tool rules into one gate. Policy files are
 * read again when they change; one that cannot be read closes the gate until a person fixes it.
 */
import path from 'node:path';
import type { Agent } from '../../domain/agent/agent.js';
import type { ApprovalRequest } from '../../domain/task/approval.js';
import { stricter, type Risk } from '../../domain/policy.js';
import type { Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import type { WorkspaceFiles } from '../../ports/workspace-files.js';
import type { Gate, GateVerdict } from '../../ports/gate.js';
import type { PluginAction } from '../../ports/shell.js';
import { inspect } from '../../rules/policy/command.js';
import { useOfTool } from '../../rules/policy/paths.js';
import { judgeTool } from '../../rules/policy/tools.js';
import { parseBash } from '../../text/bash/parse.js';
import { lineDiff } from '../../text/lines/line-diff.js';
import { changeFile } from './change-file.js';
import { failedCheck } from './safety-checks.js';
import { ALLOWLIST_FILE, commandGate, loadPolicy, POLICY_FILE } from './index.js';

interface GateOptions {
  root: string;
  disk: Disk;
  folder: WorkspaceFiles;
  peer: string;
  /** True for a plugin's tool that does not need approval. */
  isFree?: (tool: string) => boolean;
}

export function gate({ root, disk, folder, peer, isFree }: GateOptions): Gate {
  const change = changeFile({ root, disk, peer });
  const stamp = (): string => [ALLOWLIST_FILE, POLICY_FILE].map((file) => disk.glance(path.join(root, file))).join(' ');
  let seen = stamp();
  let loaded = loadPolicy(root);
  let unreported = loaded.problems;

  return {
    refresh(): Problem[] {
      reload();
      const problems = unreported;
      unreported = [];
      return problems;
    },
    async noteAllowed(line) {
      let times = 0;
      await change(HABITS, (before) => {
        const counts = countsIn(before);
        times = (counts[line] ?? 0) + 1;
        return JSON.stringify({ ...counts, [line]: times });
      });
      return times;
    },
    async allowAlways(line) {
      const exactly = `/^${line.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}$/`;
      const rule = `${JSON.stringify(exactly)}: { approve: true, matchCommandLine: true }`;
      await change(ALLOWLIST_FILE, (before) =>
        before.includes(rule) ? before : `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${rule}\n`,
      );
    },
    judge(agent, tool, args) {
      reload();
      return tool === 'execute_command' ? command(agent, args) : other(agent, tool, args);
    },
  };

  /** Runs before every verdict, so that a rule applies as soon as it is saved. */
  function reload(): void {
    const now = stamp();
    if (now === seen) return;
    seen = now;
    loaded = loadPolicy(root);
    unreported = loaded.problems;
  }

  function command(agent: Agent, args: Record<string, unknown>): GateVerdict {
    const line = String(args['command'] ?? '');
    const home = path.join(root, 'workspaces', agent.name);
    const { verdict, reason, plan } = commandGate(loaded.policy).judge(line, { agent, cwd: home });
    // A command line that a person allowed has no plan: the shell runs it, like an approved one.
    const needsNetwork = args['network'] === true && verdict !== 'deny';
    const strict = needsNetwork && verdict !== 'ask' ? 'ask' : verdict;
    const action = verdict === 'deny' ? undefined : actionIn(line);
    const reasons = needsNetwork ? [reason, 'it asks for network access'] : [reason];
    if (action)
      return {
        verdict: stricter(strict, 'ask'),
        reasons: ['it is an action of a plugin'],
        risk: 'HIGH',
        action,
      };
    return { verdict: strict, reasons, risk: riskOfCommand(line), ...(plan && strict !== 'ask' ? { plan } : {}) };
  }

  function other(agent: Agent, tool: string, args: Record<string, unknown>): GateVerdict {
    const use = useOfTool(tool);
    const requested = typeof args['path'] === 'string' ? args['path'] : undefined;
    const spot = use !== undefined && requested !== undefined ? folder.judge(agent.name, use, requested) : undefined;
    const content = typeof args['content'] === 'string' ? args['content'] : undefined;
    const place = spot?.verdict === 'ok' ? spot.path : undefined;
    const bytes = Buffer.byteLength(content ?? '');
    const { verdict, reason, risk } = judgeTool({
      tool,
      free: isFree?.(tool) === true,
      policy: loaded.policy,
      agent,
      ...(spot ? { path: spot.path ?? requested!, pathVerdict: spot.verdict } : {}),
      ...(content === undefined ? {} : { bytes: Buffer.byteLength(content) }),
      ...(place === undefined ? {} : { check: (check) => failedCheck(check, { root, file: place, bytes }) }),
    });
    const reasons = spot && spot.verdict !== 'ok' ? [spot.reason] : [reason];
    const target =
      tool === 'edit_session'
        ? `sessions/${String(args['session'])}.session.yaml`
        : tool === 'create_agent'
          ? `agents/${String(args['name'])}.md`
          : requested;
    const changes = verdict === 'ask' && content !== undefined && target !== undefined;
    const diff = changes ? diffOf(agent.name, target, content) : undefined;
    return { verdict, reasons, risk: RISK[risk], diff };
  }

  function diffOf(agent: string, file: string, after: string): string {
    const read = folder.read(agent, file, 1024 * 1024, true);
    return lineDiff(read.ok ? read.value.text : '', after) || 'no line changes';
  }
}

/** Counts how often each command line was allowed. */
const HABITS = '.guild/allowed.json';

/** A file torn by a power cut counts as empty. */
function countsIn(text: string): Record<string, number> {
  try {
    return JSON.parse(text) as Record<string, number>;
  } catch {
    return {};
  }
}

/** The plugin action that the line runs, if the line is one plain command. */
function actionIn(line: string): PluginAction | undefined {
  const { plan } = inspect(line, { parse: parseBash });
  const only = plan?.length === 1 && plan[0]!.commands.length === 1 ? plan[0]!.commands[0]! : undefined;
  const [file, ...args] = only?.redirections.length === 0 ? only.argv : [];
  return file !== undefined && /^plugins\/[\w-]+\/actions\/[\w-]+\.mjs$/.test(file) ? { file, args } : undefined;
}

const RISK: Record<Risk, ApprovalRequest['risk']> = {
  none: 'LOW',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  critical: 'HIGH',
};

/** Only shown to people; the gate has already decided. */
function riskOfCommand(line: string): ApprovalRequest['risk'] {
  if (/\b(rm|dd|chmod|chown|kill|pkill|mv|truncate|git\s+push|npm\s+publish|curl|wget|ssh|scp)\b/.test(line))
    return 'HIGH';
  return /[>|;&]|\b(install|write|create|start|stop|restart)\b/.test(line) ? 'MEDIUM' : 'LOW';
}
