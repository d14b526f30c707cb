/**
 * Combines the command policy, the path rules and the tool rules into one gate. Policy files are
 * read again when they change; one that cannot be read closes the gate until a person fixes it.
 */
import os from 'node:os';
import { attempt } from '../../domain/attempt.js';
import { defined } from '../../domain/defined.js';
import { isMapping } from '../../domain/mapping.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { ApprovalRequest, BoundBase } from '../../domain/task/approval.js';
import { stricter, type Policy, type Risk } from '../../domain/policy.js';
import type { Problem } from '../../domain/problem.js';
import type { Disk } from '../../ports/disk.js';
import type { PathVerdict, WorkspaceFiles } from '../../ports/workspace-files.js';
import type { Gate, GateVerdict } from '../../ports/gate.js';
import type { PluginAction } from '../../ports/shell.js';
import { inspect, type Inspection } from '../../rules/policy/command.js';
import { riskOfCommand } from '../../rules/policy/risk.js';
import { isSecretPath } from '../../rules/policy/names/secret-names.js';
import { useOfTool } from '../../rules/policy/paths.js';
import { wrongHosts } from '../../rules/policy/hosts.js';
import { usesOf } from '../../rules/policy/uses.js';
import { judgeTool } from '../../rules/policy/tools.js';
import { judgeInspected } from '../../rules/policy/verdict.js';
import { parseBash } from '../../text/bash/parse.js';
import { lineDiff } from '../../text/lines/line-diff.js';
import { changeFile } from './change-file.js';
import { failedCheck } from './safety-checks.js';
import { operandsOf } from './operands.js';
import { mayUseAgentsFiles } from './rulable.js';
import { ALLOWLIST_FILE, loadPolicy, policyOf, POLICY_FILE, type LoadedPolicy } from './index.js';

interface GateOptions {
  root: string;
  disk: Disk;
  folder: WorkspaceFiles;
  peer: string;
  /** Whether commands run in a sandbox; without one their operands are looked up. */
  isSandboxed: () => boolean;
  /** The id of the trust record, which nobody else knows. A count without it was made elsewhere. */
  workspace?: string;
  /** True for a plugin's tool that does not need approval. */
  isFree?: (tool: string) => boolean;
  /**
   * The rule files as a person has trusted them. Both these and the current ones are asked, and
   * the stricter verdict counts: a change that tightens counts at once, one that loosens when it is
   * trusted. `own`: the policy of the user, which no workspace loosens. `restricted`: why nothing
   * may run without approval.
   */
  trusted?: () => { rules: Record<string, string>; own?: string; restricted?: string } | undefined;
  /** A rule that a person has allowed is trusted in the same step. */
  onRule?: (file: string, edit: (before: string) => string) => void;
}

interface Line {
  text: string;
  parse: typeof parseBash;
  /** As it would run for the agent. */
  inspection: Inspection;
}

export function gate(options: GateOptions): Gate {
  const { root, disk, folder, peer, isSandboxed, isFree, trusted, onRule, workspace = '' } = options;
  const lasting = trustedPolicies(trusted);
  const change = changeFile({ root, disk, peer });
  const stamp = (): string => [ALLOWLIST_FILE, POLICY_FILE].map((file) => disk.glance(`${root}/${file}`)).join(' ');
  let seen = stamp();
  let loaded = loadPolicy(root);
  let unreported = loaded.problems;
  const mayBeRule = (line: string): boolean => !mayUseAgentsFiles(line) && trusted?.()?.restricted === undefined;

  return {
    refresh(): Problem[] {
      reload();
      const problems = unreported;
      unreported = [];
      return problems;
    },
    async noteAllowed(line) {
      if (!mayBeRule(line)) return 0;
      let times = 0;
      await change(HABITS, (before) => {
        const counts = countsIn(before, workspace);
        times = (counts.get(line) ?? 0) + 1;
        return JSON.stringify({ workspace, counts: Object.fromEntries(counts.set(line, times)) });
      });
      return times;
    },
    async allowAlways(line) {
      if (!mayBeRule(line)) return;
      const exactly = `/^${line.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}$/`;
      const rule = `${JSON.stringify(exactly)}: { approve: true, matchCommandLine: true }`;
      const edit = (before: string): string =>
        before.includes(rule) ? before : `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${rule}\n`;
      await change(ALLOWLIST_FILE, edit);
      onRule?.(ALLOWLIST_FILE, edit);
    },
    judge(agent, tool, args) {
      reload();
      // The path is resolved once, even if several policies judge it.
      const spot = tool === 'execute_command' ? undefined : spotOf(agent, tool, args);
      const line = tool === 'execute_command' ? readLine(agent, String(args['command'] ?? '')) : undefined;
      const verdicts = lasting(loaded).map((policy) =>
        line !== undefined ? command(policy, agent, args, line) : other(policy, agent, tool, args, spot),
      );
      return verdicts.reduce((one, two) => (stricter(one.verdict, two.verdict) === one.verdict ? one : two));
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

  /** Parsed and inspected once, even if several policies judge it. */
  function readLine(agent: Agent, text: string): Line {
    const parsed = parseBash(text);
    const parse: typeof parseBash = (line) => (line === text ? parsed : parseBash(line));
    const operand = isSandboxed() ? undefined : operandsOf(root, folder, agent.name);
    return {
      text,
      parse,
      inspection: inspect(text, { parse, home: os.homedir(), cwd: root, ...defined({ operand }) }),
    };
  }

  function command(policy: Policy, agent: Agent, args: Record<string, unknown>, line: Line): GateVerdict {
    const { verdict, reason, plan } = judgeInspected(line.text, line.inspection, { policy, agent });
    // A whole line that a person's rule allows has no plan: the shell runs it, like an approved
    // one.
    const wrong = args['hosts'] === undefined ? undefined : wrongHosts(args['hosts']);
    if (wrong !== undefined) return { verdict: 'deny', reasons: [wrong], risk: 'HIGH' };
    const needsNetwork = args['hosts'] !== undefined && verdict !== 'deny';
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
    const used = strict === 'deny' ? undefined : usesOf(line.text, line.parse);
    const uses = used ? { uses: used, secret: strict === 'ask' && used.words.some(isSecretPath) } : {};
    return {
      verdict: strict,
      reasons,
      risk: riskOfCommand(line.text, line.inspection, needsNetwork),
      ...uses,
      ...(plan && strict !== 'ask' ? { plan } : {}),
    };
  }

  /** Where the path of the call leads; undefined if it has none. */
  function spotOf(agent: Agent, tool: string, args: Record<string, unknown>): PathVerdict | undefined {
    const use = useOfTool(tool);
    const requested = args['path'];
    return use !== undefined && typeof requested === 'string' ? folder.judge(agent.name, use, requested) : undefined;
  }

  function other(
    policy: Policy,
    agent: Agent,
    tool: string,
    args: Record<string, unknown>,
    spot: PathVerdict | undefined,
  ): GateVerdict {
    const requested = typeof args['path'] === 'string' ? args['path'] : undefined;
    const content = typeof args['content'] === 'string' ? args['content'] : undefined;
    const place = spot?.verdict === 'ok' ? spot.path : undefined;
    const bytes = Buffer.byteLength(content ?? '');
    const { verdict, reason, risk } = judgeTool({
      tool,
      free: isFree?.(tool) === true,
      policy,
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
    const against = changes ? diffOf(agent.name, target, content) : {};
    const secret = useOfTool(tool) === 'read' && spot?.verdict === 'ask' && isSecretPath(spot.path ?? requested!);
    return { verdict, reasons, risk: RISK[risk], ...against, ...(secret ? { secret } : {}) };
  }

  function diffOf(agent: string, file: string, after: string): { diff: string; base?: BoundBase } {
    // The base is read before the text: if the file changes in between, the base no longer fits it.
    const base = folder.baseOf(file);
    if (isSecretPath(base?.path ?? file))
      return { diff: 'the file is replaced; it may contain a secret, so it is not compared', ...defined({ base }) };
    const read = folder.read(agent, file, MAX_DIFFED_BYTES, true);
    const bound = base === undefined ? {} : { base };
    if (read.ok && read.value.cut)
      return {
        diff: `the whole file is replaced; with ${read.value.bytes} bytes it is too large to compare`,
        ...bound,
      };
    if (!read.ok && read.code !== 'not_found')
      return { diff: `the file is replaced; it cannot be compared: ${read.reason}`, ...bound };
    return { diff: lineDiff(read.ok ? read.value.text : '', after) || 'no line changes', ...bound };
  }
}

/** The policies that must all agree, given the current one. */
function trustedPolicies(trusted: GateOptions['trusted']): (now: LoadedPolicy) => Policy[] {
  let known: { rules: Record<string, string>; policy: Policy } | undefined;
  let ownRules: Policy | undefined;
  return ({ policy: now, texts }) => {
    const given = trusted?.();
    if (given === undefined) return [now];
    const own = given.own === undefined ? [] : [withOwn(now, (ownRules ??= policyOf({ [POLICY_FILE]: given.own })))];
    if (given.restricted !== undefined)
      return [now, ...own].map((policy) => ({ ...policy, closed: policy.closed ?? given.restricted! }));
    // Rules that have not changed since they were trusted are judged once, not twice.
    if (isSame(given.rules, texts)) return [now, ...own];
    if (known?.rules !== given.rules) known = { rules: given.rules, policy: policyOf(given.rules) };
    return [now, known.policy, ...own];
  };
}

function isSame(one: Record<string, string>, two: Record<string, string>): boolean {
  return [ALLOWLIST_FILE, POLICY_FILE].every((file) => one[file] === two[file]);
}

const MAX_DIFFED_BYTES = 8 * 1024 * 1024;

/** Where a rule of the user applies, it decides; elsewhere the workspace does. */
function withOwn(now: Policy, own: Policy): Policy {
  const rules = own.rules.map((rule) => ({ ...rule, priority: Number.MAX_SAFE_INTEGER }));
  return { ...now, rules: [...now.rules, ...rules], ...(own.closed === undefined ? {} : { closed: own.closed }) };
}

/** Counts how often each command line was allowed. */
const HABITS = '.guild/allowed.json';

/** A file torn by a power cut counts as empty, and so do counts that came with a copied folder. */
function countsIn(text: string, workspace: string): Map<string, number> {
  const kept = attempt(() => JSON.parse(text) as unknown, undefined);
  if (!isMapping(kept) || kept['workspace'] !== workspace || !isMapping(kept['counts'])) return new Map();
  return new Map(
    Object.entries(kept['counts']).filter((entry): entry is [string, number] => Number.isInteger(entry[1])),
  );
}

/** The plugin action that the line runs, if the line is one plain command. */
function actionIn({ text, parse }: Line): PluginAction | undefined {
  if (!text.trimStart().startsWith('plugins/')) return undefined;
  const { plan } = inspect(text, { parse });
  const only = plan?.length === 1 && plan[0]!.commands.length === 1 ? plan[0]!.commands[0]! : undefined;
  const [file, ...args] = only?.redirections.length === 0 ? only.argv : [];
  return file !== undefined && /^plugins\/[\w-]+\/actions\/[\w-]+\.mjs$/.test(file) ? { file, args } : undefined;
}

/** A call that no rule mentions is not known to be harmless. */
const RISK: Record<Risk, ApprovalRequest['risk']> = {
  none: 'MEDIUM',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  critical: 'HIGH',
};
