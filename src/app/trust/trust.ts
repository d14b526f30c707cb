/**
 * Workspace trust: which parts of a folder may act. The record of a person's trust is in the user's
 * state folder. A workspace that is unknown, or wants more than was trusted, works with the parts
 * that were trusted last, or restricted, until a person has looked at it.
 */
import { hash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { consent, publicKey } from '../../adapters/consent/index.js';
import { disk as realDisk } from '../../adapters/disk/index.js';
import { copyOf, keepCopy } from '../../adapters/trust/plugin-tree.js';
import { recordFolder, trustRecords, type TrustRecords } from '../../adapters/trust/records.js';
import { ownerOf, rightsProblems } from '../../adapters/trust/rights.js';
import { stateFolder } from '../../adapters/trust/state-folder.js';
import { attempt } from '../../domain/attempt.js';
import type { Config } from '../../domain/config/config.js';
import {
  isNothing,
  NOT_TRUSTED,
  NOTHING_ACTS,
  type Acting,
  type Tightened,
  type TrustRecord,
} from '../../domain/consent/trust.js';
import { type Problem, ProblemError, problemError } from '../../domain/problem.js';
import type { Consent } from '../../ports/consent/index.js';
import { sharedName } from '../far/shared-name.js';
import { noWorkspace } from '../readers/no-workspace.js';
import { readConfig } from '../readers/read-config.js';
import { actingIn, isUnchanged, rulesIn, settingsOf, shared, type Acted } from './acting.js';
import { question } from '../../views/trust-question.js';
import { refuseForeign } from './own-places.js';
import { readSettings, withinSettings, type OwnSettings } from './settings.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * `restricted`: nothing was ever trusted; `changed`: the parts that were trusted last are in force.
 */
type TrustState = 'trusted' | 'restricted' | 'changed';

export interface Trust {
  state: TrustState;
  /** The digest of everything that wants to act now. */
  digest: string;
  acting: Acting;
  /** The parts that may act. */
  inForce: Acting;
  /** One problem for each right that the user's own settings remove. */
  problems: Problem[];
  settings: OwnSettings;
  /** The kept copy of the plugin code that may run. */
  code?: string;
  record: TrustRecord;
}

function digestOf({ code, ...acting }: Acting): string {
  const text = JSON.stringify(sorted({ ...acting, code: code?.hash ?? null }));
  return hash('sha256', text);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

/** Throws a ProblemError if the folder must not be opened at all. */
export function openTrust(root: string, env: Env, config: Acted): Trust {
  const { real, state, records } = place(root, env);
  const known = records.read(real);
  const [refused] = rightsProblems(real, known?.owner);
  if (refused !== undefined) throw new ProblemError(refused);
  const record = known ?? writing(state, () => records.create(real, process.getuid?.()));
  const trust = weigh(record, state, env, config);
  if (trust.record !== record) writing(state, () => records.write(trust.record));
  return trust;
}

/** Like `openTrust`, but for a reader: it refuses nothing and writes nothing. */
export function peekTrust(root: string, env: Env, config: Acted): Trust {
  const { real, state, records } = place(root, env);
  return weigh(records.read(real) ?? { version: 1, id: '', path: real }, state, env, config);
}

/**
 * Whether the files that a command in force names are those that a person trusted, when this
 * process started or since. `part`: the name of a plugin, or `notify`.
 */
export function isAsTrusted({ inForce, record }: Pick<Trust, 'inForce' | 'record'>, env: Env, part: string): boolean {
  if (isUnchanged(record.path, inForce, part)) return true;
  const since = attempt(() => kept(env).records.read(record.path))?.trusted?.acting;
  if (since === undefined || !isUnchanged(record.path, since, part)) return false;
  return isDeepStrictEqual(settingsOf(since, part), settingsOf(inForce, part));
}

/** Changes whenever something was trusted or withdrawn. */
export function trustStamp(root: string, env: Env): string | undefined {
  const { real, records } = place(root, env);
  return records.stamp(real);
}

/**
 * The result has a new record if nothing acts or a gate got tighter: neither needs a question.
 */
function weigh(before: TrustRecord, state: string, env: Env, config: Acted): Trust {
  const acting = actingIn(before.path, config);
  const known = withTightened(before, acting);
  // The usual case. The digest is already known, and computing it costs more than comparing.
  const isSeen = known.trusted !== undefined && JSON.stringify(known.trusted.acting) === JSON.stringify(acting);
  const digest = isSeen ? known.trusted!.digest : digestOf(acting);
  const isHarmless = known.trusted === undefined && isNothing(acting);
  const record = isHarmless ? { ...known, trusted: { digest, acting, at: new Date().toISOString() } } : known;
  const { trusted } = record;
  const isSame = trusted?.digest === digest;
  const inForce = isSame ? acting : trusted === undefined ? NOTHING_ACTS : shared(known.path, trusted.acting, acting);
  const isTrusted = isSame || (trusted !== undefined && digestOf(inForce) === digest);
  const code = inForce.code === undefined ? undefined : copyOf(state, inForce.code.hash);
  const settings = readSettings(before.path, env);
  return {
    state: isTrusted ? 'trusted' : trusted === undefined ? 'restricted' : 'changed',
    digest,
    acting,
    ...withinSettings(inForce, settings),
    settings,
    record,
    code,
  };
}

/** A setting that tightens a gate is trusted at once, so that only its removal asks. */
function withTightened(known: TrustRecord, { tightened }: Acting): TrustRecord {
  const { trusted } = known;
  if (trusted === undefined || tightened === undefined) return known;
  const { tightened: before } = trusted.acting;
  if ((Object.keys(tightened) as (keyof Tightened)[]).every((key) => before?.[key] !== undefined)) return known;
  const acting = { ...trusted.acting, tightened: { ...before, ...tightened } };
  return { ...known, trusted: { ...trusted, acting, digest: digestOf(acting) } };
}

/** The reasons why the folder must not be opened: its owner, and others who can write its rules. */
export function rightsOf(root: string, env: Env): Problem[] {
  const { real, records } = place(root, env);
  return rightsProblems(real, records.read(real)?.owner);
}

/**
 * For `guild check`, which writes nothing: why the folder will not be opened, and what it may not
 * do yet.
 */
export function trustReport(root: string, env: Env): { problems: Problem[]; warnings: Problem[] } {
  try {
    const { config, unreadable } = readConfig(realDisk(), root, env);
    const problems = rightsOf(root, env);
    if (unreadable !== undefined || problems.length > 0) return { problems, warnings: [] };
    const trust = peekTrust(root, env, config);
    return { problems, warnings: [...(trust.state === 'trusted' ? [] : [question(trust, true)]), ...trust.problems] };
  } catch (thrown) {
    if (thrown instanceof ProblemError) return { problems: [thrown.problem], warnings: [] };
    throw thrown;
  }
}

/** The question for the person: in full the first time, then as a reminder. */
export function askOnce(trust: Trust, env: Env): Problem[] {
  if (trust.state === 'trusted') return [];
  const { record, digest } = trust;
  const isKnown = record.asked === digest;
  if (!isKnown) kept(env).records.write({ ...record, asked: digest });
  return [question(trust, isKnown)];
}

interface Acceptance {
  /** The digest that the person has looked at; refused if it has changed since. */
  digest?: string;
  /** Accepts the current owner of the folder. */
  owner?: boolean;
  /** Where the workspace was before it was moved. */
  movedFrom?: string;
}

/**
 * The parts that `guild trust` shows and decides about. Makes a record for the folder if there is
 * none.
 */
export function lookAtTrust(root: string, env: Env, { owner, movedFrom }: Acceptance = {}): Trust {
  const { real, state, records } = place(root, env);
  if (movedFrom !== undefined) takeOver(records, path.resolve(movedFrom), real);
  if (owner) {
    const record = records.read(real) ?? writing(state, () => records.create(real, undefined));
    writing(state, () => records.write({ ...record, owner: ownerOf(real) }));
  }
  const { config, unreadable } = readConfig(realDisk(), real, env);
  if (unreadable) throw new ProblemError(unreadable);
  return openTrust(real, env, config);
}

/** Trusts the workspace as it is now. Keeps a copy of its plugin code. */
export function acceptTrust(root: string, env: Env, given: Acceptance = {}): Trust {
  const trust = lookAtTrust(root, env, given);
  const { digest, acting, record } = trust;
  if (given.digest !== undefined && given.digest !== digest)
    throw problemError('not_allowed', `this workspace now has the digest ${digest}, not ${given.digest}`, {
      hint: 'look at it again with guild trust',
    });
  if (record.trusted?.digest === digest) return trust;
  const { real, state, records } = place(root, env);
  if (acting.code !== undefined && keepCopy(path.join(real, 'plugins'), state, acting.code.hash) === undefined)
    throw problemError('not_allowed', 'the code under plugins/ changed meanwhile; nothing was trusted');
  const { asked: _, ...rest } = record;
  records.write({ ...rest, trusted: { digest, acting, at: new Date().toISOString() } });
  return lookAtTrust(real, env);
}

/** Forgets what was trusted. The id stays, so that answers of this user still count. */
export function withdrawTrust(root: string, env: Env): boolean {
  const { real, records } = place(root, env);
  const record = records.read(real);
  if (record?.trusted === undefined) return false;
  const { trusted: _, asked: __, ...rest } = record;
  records.write(rest);
  return true;
}

/** Removes everything that is kept about a workspace: its folder was a copy and is gone. */
export function forgetTrust(root: string, env: Env): void {
  const { real, state, records } = place(root, env);
  const record = records.read(real);
  if (record === undefined) return;
  records.remove(real);
  fs.rmSync(recordFolder(state, record.id), { recursive: true, force: true });
}

/** Rule files that differ from the trusted version. Writes nothing. */
export function untrustedRules(root: string, env: Env): string[] {
  if (!fs.existsSync(root)) return [];
  const { real, records } = place(root, env);
  const now = rulesIn(real);
  const trusted = records.read(real)?.trusted?.acting.rules ?? {};
  return [...new Set([...Object.keys(now), ...Object.keys(trusted)])].filter((file) => now[file] !== trusted[file]);
}

interface TrustedRules {
  rules: Record<string, string>;
  /** The text of the user's own policy. */
  own?: string;
  restricted?: string;
}

/** Returns a function that gives the rules in force; it rereads a record that has changed. */
export function rulesInForce(trust: Trust, env: Env): () => TrustedRules {
  const { records } = kept(env);
  const { path: root } = trust.record;
  let stamp = records.stamp(root);
  let { trusted } = trust.record;
  const own = trust.settings.policy === undefined ? {} : { own: trust.settings.policy };
  return () => {
    const now = records.stamp(root);
    if (now !== stamp) [stamp, trusted] = [now, records.read(root)?.trusted];
    if (trusted === undefined) return { rules: {}, restricted: NOT_TRUSTED, ...own };
    return { rules: trusted.acting.rules, ...own };
  };
}

/** Applies a change of a rule file that a person has allowed to the trusted version, too. */
export function trustedEdit(trust: Trust, env: Env): (file: string, edit: (before: string) => string) => void {
  const { records } = kept(env);
  return (file, edit) => {
    const record = records.read(trust.record.path);
    if (record?.trusted === undefined) return;
    const { acting } = record.trusted;
    const rules = { ...acting.rules, [file]: edit(acting.rules[file] ?? '') };
    const after = { ...acting, rules };
    records.write({ ...record, trusted: { ...record.trusted, acting: after, digest: digestOf(after) } });
  };
}

/**
 * Answers of this user for this workspace. `config`: if it has been read. Opened when something
 * is first answered, shown or begun, because most runs never need them.
 */
export function consentFor(record: TrustRecord, env: Env, config?: Pick<Config, 'store'>): Consent {
  let opened: Consent | undefined;
  const open = (): Consent => (opened ??= openConsent(record, env, config));
  return {
    sign: (given) => open().sign(given),
    isSigned: (given, signature) => open().isSigned(given, signature),
    seal: (task, request) => open().seal(task, request),
    isSealed: (task, request) => open().isSealed(task, request),
    hasShown: (id, digest) => open().hasShown(id, digest),
    noteShown: (shown) => open().noteShown(shown),
    begin: (id) => open().begin(id),
  };
}

function openConsent(record: TrustRecord, env: Env, config?: Pick<Config, 'store'>): Consent {
  const state = stateFolder(env);
  // An answer counts on every machine of a shared store, wherever their folders are.
  const shared = sharedName(config ?? readConfig(realDisk(), record.path, env).config, env);
  const workspace = shared ?? record.id;
  return consent({
    disk: realDisk(),
    folder: recordFolder(state, record.id),
    workspace,
    keyFile: keyFileOf(state, env),
  });
}

/** The folder outside of the workspace in which this machine keeps its facts about it. */
export function keptFolder(record: TrustRecord, env: Env): string {
  return recordFolder(stateFolder(env), record.id);
}

/** The public part of this user's key, for other machines. */
export function publicKeyOf(env: Env): string {
  return publicKey(realDisk(), keyFileOf(stateFolder(env), env));
}

function keyFileOf(state: string, env: Env): string {
  return env['GUILD_KEY_FILE'] || path.join(state, 'key');
}

/** A machine without a person trusts exactly what its environment names. */
export function acceptNamed(trust: Trust, env: Env): Trust {
  const named = env['GUILD_TRUST'];
  if (trust.state === 'trusted' || named === undefined || named !== trust.digest) return trust;
  return acceptTrust(trust.record.path, env, { digest: named });
}

function place(root: string, env: Env): { real: string; state: string; records: TrustRecords } {
  const real = realPath(root);
  const { state, records } = kept(env);
  refuseForeign(real, state, 'state folder', 'GUILD_STATE');
  const named = env['GUILD_KEY_FILE'];
  if (named) refuseForeign(real, named, 'key', 'GUILD_KEY_FILE');
  return { real, state, records };
}

function realPath(root: string): string {
  try {
    return fs.realpathSync.native(root);
  } catch {
    throw new ProblemError(noWorkspace(root, false));
  }
}

/** The user's state, for a workspace whose place was looked at before. */
function kept(env: Env): { state: string; records: TrustRecords } {
  const state = stateFolder(env);
  return { state, records: trustRecords(realDisk(), state) };
}

function takeOver(records: TrustRecords, from: string, to: string): void {
  const old = records.read(from);
  if (old === undefined)
    throw problemError('not_found', `no workspace at ${from} was ever opened by you on this machine`);
  if (fs.existsSync(from))
    throw problemError('not_allowed', `${from} still exists, so ${to} is a copy, not a moved workspace`, {
      hint: 'a copy must be trusted separately: guild trust',
    });
  records.write({ ...old, path: to });
  records.remove(from);
}

function writing<T>(state: string, write: () => T): T {
  try {
    return write();
  } catch (thrown) {
    const { code } = thrown as { code?: string };
    if (code !== 'EACCES' && code !== 'EROFS' && code !== 'EPERM') throw thrown;
    throw problemError('disk_failed', `${state} cannot be written, so nothing can be trusted or answered (${code})`, {
      hint: 'set GUILD_STATE to a folder of your own outside the workspace',
    });
  }
}
