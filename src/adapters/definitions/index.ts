/**
 * The definitions of a workspace: every file that decides what agents do. They travel by Git; the
 * store holds only their hash, which a person publishes. A process whose own files have another
 * hash takes no work.
 */
import { parseMapping } from '../../domain/mapping.js';
import fs from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { defined } from '../../domain/defined.js';
import type { Ledger, Put } from '../../ports/ledger.js';
import { definitionFiles } from './state-files.js';

export const DEFINITIONS = 'definitions/';
/** The store has one set of definitions at a time. */
const CURRENT = 'current';

export interface Published {
  hash: string;
  /** The digest of what acts, as `guild trust` shows it. */
  trust: string;
  /** The commit of the folder, if it is a Git checkout. */
  commit?: string;
  by: string;
  at: string;
}

/** The files that determine how agents behave; not documents for people. */
const COUNTED =
  /^(guild\.yaml|agents\/|templates\/|plugins\/|skills\/|\.claude\/|\.mcp\.json$|storage\/|.*script.*\.ya?ml$)/;

/** Retired agents decide nothing. */
const NOT_COUNTED = /^agents\/retired\//;

/** `without`: files that are not part of the definitions yet. */
export function definitionsHash(root: string, without: ReadonlySet<string> = new Set()): string {
  const isCounted = (file: string): boolean => COUNTED.test(file) && !NOT_COUNTED.test(file) && !without.has(file);
  const files = definitionFiles(root).filter(isCounted);
  return sumOf(JSON.stringify(files.map((file) => [file, sumOf(fs.readFileSync(path.join(root, file)))])));
}

export async function readPublished(ledger: Ledger): Promise<Published | undefined> {
  const entry = await ledger.get(DEFINITIONS + CURRENT);
  return entry === undefined ? undefined : parsePublished(entry.value);
}

/** `more`: changes in the same step. */
export async function publish(ledger: Ledger, id: string, published: Published, more: readonly Put[] = []) {
  const put = { key: DEFINITIONS + CURRENT, value: JSON.stringify(published), live: true };
  await ledger.commit(id, { puts: [put, ...more], adds: [] });
}

/** As of the last look. */
export function publishedIn(shelf: { get(id: string): { value: string } | undefined }): Published | undefined {
  const held = shelf.get(CURRENT);
  return held === undefined ? undefined : parsePublished(held.value);
}

/** Undefined if the value is not a release. Anybody with the rights of a worker can write it. */
function parsePublished(value: string): Published | undefined {
  const { hash, trust, commit, by, at } = parseMapping(value) ?? {};
  const isText = (field: unknown): field is string => typeof field === 'string' && field.length <= MAX_FIELD;
  if (!isText(hash) || !isText(trust) || !isText(by) || !isText(at)) return undefined;
  return defined<Published>({ hash, trust, commit: isText(commit) ? commit : undefined, by, at });
}

const MAX_FIELD = 200;

function sumOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}
