/**
 * Leaves secrets out of shared pages: the values of keys in the environment, in `.env` files and in
 * secret files that agents have read, and everything that a tool did with a file that the gates
 * never let out.
 */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../domain/attempt.js';
import { textIn } from '../app/trust/text-file.js';
import { isSecretPath } from '../rules/policy/names/secret-names.js';
import type { ShownCall } from './base/contract.js';

type Env = Record<string, string | undefined>;

const SECRET_LEFT_OUT = '[secret, not exported]';

/** A shorter value is an ordinary word, which would be cut out of every text. */
const LENGTH_MIN = 8;
const SECRET_NAME = /key|token|secret|passw|passphrase|credential|webhook|dsn$|_(?:pwd|pw|pat|auth)$/i;
const PASSWORD_IN_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^/\s@]+)@/i;

export interface Redaction {
  /** The same value, with every secret in its texts replaced. */
  value<T>(value: T): T;
  /** A call that touches a secret file, without its arguments and its result. */
  call(call: ShownCall): ShownCall;
}

export function redaction(root: string, env: Env): Redaction {
  let [secrets, stamp] = [secretsIn(root, env), privateStamp(root)];
  const text = (given: string): string =>
    secrets.reduce((now, secret) => now.replaceAll(secret, SECRET_LEFT_OUT), given);
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given);
    if (Array.isArray(given)) return given.map(value);
    if (typeof given !== 'object' || given === null) return given;
    return Object.fromEntries(Object.entries(given).map(([key, each]) => [key, value(each)]));
  };
  return {
    value<T>(given: T) {
      // A window stays open while agents read more secrets.
      if (stamp !== privateStamp(root)) [secrets, stamp] = [secretsIn(root, env), privateStamp(root)];
      return value(given) as T;
    },
    call(call) {
      if (!touchesSecret(call)) return call;
      const { written: _, ...rest } = call;
      const hidden = { ...rest, main: SECRET_LEFT_OUT, arguments: SECRET_LEFT_OUT };
      return call.result === undefined ? hidden : { ...hidden, result: SECRET_LEFT_OUT };
    },
  };
}

/** Any argument that names a secret file, alone or as a word of a command. */
function touchesSecret({ arguments: json }: ShownCall): boolean {
  const words = json.split(/[\s"'=:;|&<>()]+/);
  return words.some((word) => word !== '' && isSecretPath(word.replaceAll('\\\\', '/')));
}

/** The longest first: replacing a secret that is part of a longer one would leave the rest. */
function secretsIn(root: string, env: Env): string[] {
  const named = Object.entries(env).flatMap(([name, value = '']) =>
    SECRET_NAME.test(name) ? [value, ...codesIn(value)] : (PASSWORD_IN_ADDRESS.exec(value)?.slice(1) ?? []),
  );
  const files = fs.readdirSync(root).filter((name) => name === '.env' || name.startsWith('.env.'));
  const kept = files.flatMap((name) => valuesIn(path.join(root, name)));
  const read = privateFiles(root).flatMap((file) => [...valuesIn(file), ...quotedIn(file)]);
  return [...new Set([...named, ...kept, ...read].flatMap(spellings))]
    .filter(({ length }) => length >= LENGTH_MIN)
    .sort((a, b) => b.length - a.length);
}

const PRIVATE = path.join('.guild', 'private');

function privateStamp(root: string): number | undefined {
  return fs.statSync(path.join(root, PRIVATE), { throwIfNoEntry: false })?.mtimeMs;
}

/** The results of secret reads: an agent may have repeated a value from them in its own words. */
function privateFiles(root: string): string[] {
  const folder = path.join(root, PRIVATE);
  return (attempt(() => fs.readdirSync(folder)) ?? []).map((name) => path.join(folder, name));
}

/** A quoted value, or the rest of a line after a colon. The first alternative skips quoted keys. */
const VALUE = /"(?:[^"\\\n]|\\.)*"\s*:|"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|:[ \t]+([^\s"'{[][^\n]*)/g;

/** Values in JSON and YAML, lines of one word, such as those of a key, and codes in any format. */
function quotedIn(file: string): string[] {
  const text = (attempt(() => textIn(file)) ?? '').trim();
  const values = [...text.matchAll(VALUE)].flatMap((found) => found.slice(1).filter((value) => value !== undefined));
  const words = text.split('\n').filter((line) => /^\S+$/.test(line));
  return [...values, ...words, ...codesIn(text)];
}

/** Words that mix letters and digits, which are rare in sentences. Times are not secrets. */
function codesIn(text: string): string[] {
  const words = text.match(/[^\s"'`<>(){}[\],;:=@/?&|\\]+/g) ?? [];
  return words.filter((word) => /\d/.test(word) && /[a-z]/i.test(word) && !/^\d{4}-\d\d-\d\dT\d\d$/.test(word));
}

/** A value in quotes may have several lines; without quotes a comment may follow it. */
const ENTRY = /^[ \t]*(?:export[ \t]+)?[^\s#=]+[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^])*)"|'([^']*)'|(.*))/gm;

function valuesIn(file: string): string[] {
  // A folder, a device or an unreadable file was not exported either.
  const text = attempt(() => textIn(file)) ?? '';
  return [...text.matchAll(ENTRY)].flatMap(([, double, single, bare = '']) => {
    const quoted = double ?? single;
    if (quoted === undefined) return [bare.trim(), bare.replace(/\s#.*$/, '').trim()];
    return [quoted, quoted.replaceAll('\\n', '\n').replace(/\\(.)/g, '$1')];
  });
}

/** As it is, line by line, and in the forms that it has inside JSON and in addresses. */
function spellings(secret: string): string[] {
  const lines = [secret, ...secret.split('\n').map((line) => line.trim())];
  const inJson = lines.map((each) => JSON.stringify(each).slice(1, -1));
  return [...lines, ...inJson, ...lines.map((each) => attempt(() => encodeURIComponent(each), each))];
}
