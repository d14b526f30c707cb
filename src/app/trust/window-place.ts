/**
 * The state that the window of a workspace keeps between its starts, in the user's own state
 * folder: the name and port of its address, and the key of its cookies and links. A browser
 * therefore stays logged in when the server is started again.
 */
import { parseMapping } from '../../domain/mapping.js';
import { attempt } from '../../domain/attempt.js';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { stateFolder } from '../../adapters/trust/state-folder.js';
import { defined } from '../../domain/defined.js';

type Env = Readonly<Record<string, string | undefined>>;

interface WindowPlace {
  /** A name that only this machine resolves. */
  hostName: string;
  /** The port of the last start; 0: there was none. */
  port: number;
  /** The whole address of the last start, without a token. */
  address?: string;
  key: Buffer;
}

/** `showing`: a read-only window has its own key, so its guests can never enter the other one. */
export function windowPlace(root: string, env: Env, showing: boolean): WindowPlace {
  return read(fileOf(root, env, showing)) ?? { hostName: newName(), port: 0, key: randomBytes(32) };
}

/** Replaces the file as a whole. Losing it only means that browsers must enter again. */
export function keepWindowPlace(root: string, env: Env, showing: boolean, place: WindowPlace): void {
  const file = fileOf(root, env, showing);
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  const text = JSON.stringify({ ...place, key: place.key.toString('base64url') });
  fs.writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  fs.renameSync(draft, file);
}

function fileOf(root: string, env: Env, showing: boolean): string {
  const id = createHash('sha256').update(fs.realpathSync(root)).digest('hex').slice(0, 24);
  return path.join(stateFolder(env), 'windows', `${id}${showing ? '-read-only' : ''}.json`);
}

const KEY_BYTES = 32;

/** Undefined for a file that is missing or broken: then all values are made again. */
function read(file: string): WindowPlace | undefined {
  const text = attempt(() => fs.readFileSync(file, 'utf8'), '');
  const { hostName, port, address, key } = parseMapping(text) ?? {};
  const bytes = Buffer.from(String(key), 'base64url');
  if (typeof hostName !== 'string' || !/^g-[0-9a-f]+\.localhost$/.test(hostName)) return undefined;
  if (bytes.length !== KEY_BYTES || !Number.isInteger(port)) return undefined;
  return defined({
    hostName,
    port: port as number,
    key: bytes,
    address: typeof address === 'string' ? address : undefined,
  });
}

function newName(): string {
  return `g-${randomBytes(4).toString('hex')}.localhost`;
}
