/**
 * The parts of a workspace that can act beyond the built-in gates, and the record of what a person
 * has trusted. Scripted models do not act. Agents and tasks do not either: whatever they want
 * passes the gates.
 */
import type { Provider, SandboxSetting, Webhook } from '../config/config.js';
import type { NotifyChannels } from '../config/notify.js';
import { visible } from './visible.js';

export interface Acting {
  /** Providers of guild.yaml: their addresses and keys. */
  providers: Record<string, Provider>;
  /** Plugins of guild.yaml and their settings, such as the commands of MCP servers. */
  plugins: Record<string, Record<string, unknown>>;
  /** Hash of the workspace's own plugin code, and the files in it; absent if it has none. */
  code?: { hash: string; files: Record<string, string> };
  /** Files that commands name, by the name of the plugin or `notify`; absent if there are none. */
  named?: Record<string, NamedFiles>;
  /** The text of each rule file by its path. */
  rules: Record<string, string>;
  /**
   * The command to run and the server to call when something waits for a person; absent if neither
   * is set.
   */
  notify?: NotifyChannels;
  /** Settings of guild.yaml that loosen a gate; absent if there are none. */
  loosened?: Loosened;
  /** The address of a database in guild.yaml: work and a password go there. */
  store?: string;
  /** Programs that may send messages, and how they prove who they are; absent if none may. */
  webhooks?: Record<string, Webhook>;
  /** Settings of guild.yaml that tighten a gate. They count at once; removing them asks. */
  tightened?: Tightened;
}

/** The hash of each file by its path in the workspace. */
export type NamedFiles = Record<string, string>;

export interface Loosened {
  sandbox?: Exclude<SandboxSetting, 'required'>;
  /** Tools that send data out without asking. */
  outward?: string[];
  /** History goes to the branch that is checked out, from where a push publishes it. */
  branch?: true;
}

export interface Tightened {
  sandbox?: 'required';
  /** The person admits each message from outside. */
  admit?: 'ask';
}

export interface TrustRecord {
  version: 1;
  /** Signatures name it, so an answer counts in one workspace only. */
  id: string;
  path: string;
  /** The user id that owns the folder; absent where the system has none. */
  owner?: number;
  /** The parts that were trusted last, and their digest; absent if nothing was trusted. */
  trusted?: { digest: string; acting: Acting; at: string } | undefined;
  /** The digest of the change that the person has been shown. */
  asked?: string;
}

/** Why a request is asked in a workspace that nobody has trusted. */
export const NOT_TRUSTED = 'this workspace is not trusted yet (guild trust), so nothing runs without approval';

export const NOTHING_ACTS: Acting = { providers: {}, plugins: {}, rules: {} };

export function isNothing({ providers, plugins, rules, tightened: _, ...others }: Acting): boolean {
  if (Object.values(others).some((part) => part !== undefined)) return false;
  return [providers, plugins, rules].every((part) => Object.keys(part).length === 0);
}

/** One thing that wants to act, in words. */
export interface Part {
  name: string;
  lines: string[];
}

export function partsOf({
  providers,
  plugins,
  code,
  named = {},
  rules,
  loosened,
  notify,
  store,
  webhooks,
}: Acting): Part[] {
  return [
    ...Object.entries(plugins).map(([name, settings]) => pluginPart(name, settings, code)),
    ...(code === undefined ? [] : [{ name: 'code under plugins/', lines: codeLines(code.files) }]),
    ...Object.entries(named).map(([part, files]) => ({
      name: `files that the command of ${visible(part)} names`,
      lines: codeLines(files),
    })),
    ...Object.entries(providers).map(([name, provider]) => ({
      name: `provider ${visible(name)}`,
      lines: providerLines(provider),
    })),
    ...(notify === undefined ? [] : [{ name: 'notify', lines: notifyLines(notify) }]),
    ...Object.entries(rules).map(([file, text]) => ({ name: file, lines: visible(text.trimEnd()).split('\n') })),
    ...(loosened === undefined ? [] : [{ name: 'settings that loosen a gate', lines: loosenedLines(loosened) }]),
    ...(store === undefined ? [] : [{ name: 'store', lines: [`keeps the work in ${visible(store)}`] }]),
    ...(webhooks === undefined ? [] : [{ name: 'webhooks', lines: Object.entries(webhooks).map(webhookLine) }]),
  ];
}

function loosenedLines({ sandbox, outward = [], branch }: Loosened): string[] {
  return [
    ...(sandbox === undefined ? [] : [`sandbox: ${sandbox}, so commands may run without a sandbox`]),
    ...(outward.length === 0
      ? []
      : [`allow_outward: ${visible(outward.join(', '))}: what they send is not asked about`]),
    ...(branch === undefined
      ? []
      : ['git: {branch: true}: commits conversations and results to the branch you are on']),
  ];
}

function tightenedParts({ tightened: { sandbox, admit } = {} }: Acting): Part[] {
  const lines = [
    ...(sandbox === undefined ? [] : ['sandbox: required, so no command runs without a sandbox']),
    ...(admit === undefined ? [] : ['inbox: {admit: ask}: no agent gets a message from outside before you admit it']),
  ];
  return lines.length === 0 ? [] : [{ name: 'settings that tighten a gate', lines }];
}

function pluginPart(name: string, settings: Record<string, unknown>, code: Acting['code']): Part {
  const own = code?.files[`${name}/index.mjs`] === undefined ? 'built in' : 'code of this folder, with all your rights';
  const text = JSON.stringify(settings, null, 2);
  return { name: `plugin ${visible(name)}`, lines: [own, ...(text === '{}' ? [] : visible(text).split('\n'))] };
}

function codeLines(files: Record<string, string>): string[] {
  return Object.entries(files).map(([file, hash]) => `${visible(file)} ${hash.slice(0, 12)}`);
}

function providerLines({ kind, baseUrl, keyEnv, headers, api }: Provider): string[] {
  return [
    `sends conversations to ${visible(baseUrl ?? `the address of ${kind}`)}, as ${kind}${api === undefined ? '' : ` (${api})`}`,
    ...(keyEnv === undefined ? [] : [`with the key in ${visible(keyEnv)}`]),
    ...Object.entries(headers ?? {}).map(([name, value]) => `with the header ${visible(`${name}: ${value}`)}`),
  ];
}

function notifyLines({ command, webhook, plugin }: NotifyChannels): string[] {
  return [
    ...(command === undefined ? [] : [`runs ${visible(command)}`]),
    ...(webhook === undefined ? [] : [`posts to ${visible(webhook.url)}, signed with ${visible(webhook.secretEnv)}`]),
    ...(plugin === undefined ? [] : [`writes to ${visible(plugin.to)} through the plugin ${visible(plugin.name)}`]),
  ];
}

function webhookLine([name, { kind, secretEnv, agent }]: [string, Webhook]): string {
  const proof = `${kind === 'token' ? 'the token' : 'a signature with the secret'} in ${visible(secretEnv)}`;
  return `${visible(name)} sends messages${agent === undefined ? '' : ` to ${visible(agent)}`}, proven by ${proof}`;
}

/** The parts that are new, changed or gone, each as lines that start with `+`, `-` or a blank. */
export function changedParts(before: Acting, now: Acting): Part[] {
  const all = (acting: Acting): Map<string, string[]> =>
    new Map([...partsOf(acting), ...tightenedParts(acting)].map((part) => [part.name, part.lines]));
  const [old, fresh] = [all(before), all(now)];
  return [...new Set([...old.keys(), ...fresh.keys()])].flatMap((name) => {
    const [was, is] = [old.get(name) ?? [], fresh.get(name) ?? []];
    if (was.join('\n') !== is.join('\n')) return [{ name, lines: differing(was, is) }];
    // The digest covers every byte, so the person sees every change, even one that shows no text.
    return before.rules[name] === now.rules[name] ? [] : [{ name, lines: [blankChange(before, now, name)] }];
  });
}

function blankChange(before: Acting, now: Acting, name: string): string {
  if (before.rules[name] === undefined) return '+ (an empty file)';
  return now.rules[name] === undefined ? '- (an empty file)' : '  (only blank space at the end differs)';
}

/** Leaves out the lines that both texts have in common at the start and at the end. */
function differing(was: readonly string[], is: readonly string[]): string[] {
  let start = 0;
  while (start < Math.min(was.length, is.length) && was[start] === is[start]) start++;
  let end = 0;
  while (end < Math.min(was.length, is.length) - start && was.at(-1 - end) === is.at(-1 - end)) end++;
  return [
    ...was.slice(start, was.length - end).map((line) => `- ${line}`),
    ...is.slice(start, is.length - end).map((line) => `+ ${line}`),
  ];
}
