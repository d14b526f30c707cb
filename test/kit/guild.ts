/**
 * The command line as a person meets it: a folder, commands, their output and exit codes. Commands
 * run in this process. A test that needs a process of its own gets `bin/guild.mjs`, or the same
 * main from a build outside of dist/.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isWorkspace } from '../../src/adapters/files/index.js';
import { disk } from '../../src/adapters/disk/index.js';
import { main } from '../../src/cli/main.js';
import type { Io } from '../../src/cli/process/io.js';
import { removeFolder, tempFolder } from './temp/folder.js';
import { trust } from './trust/state.js';

const BUILT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
export const ROOT = path.dirname(BUILT);
const MAIN = JSON.stringify(path.join(BUILT, 'src/cli/main.js'));
const SAME_MAIN = [
  '--input-type=module',
  '-e',
  `import { main } from ${MAIN}; process.exitCode = await main(process.argv.slice(1))`,
  '--',
];
/** `GUILD_BUILD=folder`: an older build. A proof of a hole must fail there because of the hole. */
const OTHER = process.env['GUILD_BUILD'];
/** The package that is tested. */
export const PACKAGE = OTHER ?? ROOT;
const GUILD = OTHER || path.basename(BUILT) === 'dist' ? [path.join(PACKAGE, 'bin/guild.mjs')] : SAME_MAIN;

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface Running {
  /** Resolves to the first group, or the whole match, once the output or the errors match. */
  says(what: RegExp): Promise<string>;
  /** Everything it has printed so far. */
  said(): string;
  /** Ctrl-C. */
  interrupt(): void;
  ended: Promise<Ran>;
}

export interface Spawned extends Running {
  child: ChildProcess;
}

/** `guild` and `start` run in this process; `spawn` starts another, to kill, pause or pipe it. */
export interface Place {
  root: string;
  guild(...args: string[]): Promise<Ran>;
  guildWith(given: Given, ...args: string[]): Promise<Ran>;
  start(...args: string[]): Running;
  startWith(given: Given, ...args: string[]): Running;
  /** Looks at a request and allows it as it was shown. */
  approve(id: string, ...more: string[]): Promise<Ran>;
  spawn(...args: string[]): Spawned;
  spawnWith(given: Given, ...args: string[]): Spawned;
  put(file: string, text: string): void;
  read(file: string): string;
  list(folder: string): string[];
}

export interface Given {
  env?: Record<string, string>;
  /** Text on standard input. */
  input?: string;
  /** Input that a person types at a terminal. Standard input is then a terminal, too. */
  types?: string;
  cwd?: string;
  /** The person has not looked at the workspace. By default it is trusted as it is. */
  untrusted?: true;
  /** Standard output and error are a terminal of this size. */
  tty?: { columns: number; rows: number };
}

/** The user's state and settings: beside the workspace, not those of whoever runs the tests. */
export function stateOf(root: string): Record<string, string> {
  return { GUILD_STATE: `${root}-state`, GUILD_CONFIG: `${root}-state/config` };
}

/** The folder of the test, with a state folder of its own next to it. See `npm run test:walls`. */
export function environment(root: string, env: Record<string, string> = {}): Record<string, string> {
  const { PATH = '', GUILD_SANDBOX } = process.env;
  return { PATH, HOME: root, ...stateOf(root), ...(GUILD_SANDBOX === undefined ? {} : { GUILD_SANDBOX }), ...env };
}

/** Trusts what the person has written so far, unless the test is about trust. */
function look(root: string, { cwd = root, untrusted, env }: Given): void {
  if (untrusted) return;
  for (const folder of new Set([root, cwd])) {
    if (!isWorkspace(disk(), folder)) continue;
    try {
      trust(folder, environment(root, env));
      // Readers take the address of a store, and whether it is trusted, from this process.
      if (fs.readFileSync(path.join(folder, 'guild.yaml'), 'utf8').includes('store: postgres'))
        trust(folder, process.env);
    } catch {
      // The command itself reports what is wrong.
    }
  }
}

/** Work that has to end before the folder of a test can be removed, by folder. */
export const beforeRemoval = new Map<string, (() => Promise<unknown>)[]>();

/** An empty folder, or one with these files. `name`: of the folder, if people see it. */
export function place(t: TestContext, files: Record<string, string> = {}, name = ''): Place {
  const made = tempFolder('cli');
  const root = path.join(made, name);
  fs.mkdirSync(root, { recursive: true });
  const running = new Set<Running>();
  t.after(async () => {
    await Promise.all((beforeRemoval.get(root) ?? []).map((end) => end()));
    for (const one of running) if ('child' in one) (one as Spawned).child.kill('SIGKILL');
    for (const one of running) one.interrupt();
    await Promise.all([...running].map(({ ended }) => ended));
    for (const folder of [made, `${root}-state`]) await removeFolder(folder);
  });
  const track = <T extends Running>(one: T): T => {
    running.add(one);
    void one.ended.then(() => running.delete(one));
    return one;
  };
  const start = (given: Given, args: string[]): Running =>
    track(OTHER === undefined ? runHere(root, given, args) : spawnGuild(root, given, args));
  const spawned = (given: Given, args: string[]): Spawned => track(spawnGuild(root, given, args));
  const here: Place = {
    root,
    guild: (...args) => start({}, args).ended,
    guildWith: (given, ...args) => start(given, args).ended,
    start: (...args) => start({}, args),
    startWith: (given, ...args) => start(given, args),
    async approve(id, ...more) {
      const { out } = await here.guild('approve', '--json');
      const { seen } = (JSON.parse(out) as { id: string; seen: string }[]).find((open) => open.id === id)!;
      return here.guild('approve', id, '--seen', seen, ...more);
    },
    spawn: (...args) => spawned({}, args),
    spawnWith: (given, ...args) => spawned(given, args),
    put(file, text) {
      const full = path.join(root, file);
      fs.mkdirSync(path.dirname(full), { recursive: true });
      fs.writeFileSync(full, text);
    },
    read: (file) => fs.readFileSync(path.join(root, file), 'utf8'),
    list: (folder) => (fs.existsSync(path.join(root, folder)) ? fs.readdirSync(path.join(root, folder)).sort() : []),
  };
  for (const [file, text] of Object.entries(files)) here.put(file, text);
  return here;
}

const SCREEN = { columns: 100, rows: 40 };

function runHere(root: string, given: Given, args: string[]): Running {
  const { env, types, input = types ?? '', cwd = root, tty = types === undefined ? undefined : SCREEN } = given;
  look(root, given);
  const said = listen();
  const output = (keep: (text: string) => void): Io['stdout'] => {
    const stream = new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        keep(String(chunk));
        done();
      },
    });
    return Object.assign(stream, tty ? { isTTY: true, ...tty } : {});
  };
  const listeners = new Set<() => void>();
  const ended = new Promise<Ran>((resolve) => {
    const end = (code: number): void => resolve({ code, ...said.all() });
    const io: Io = {
      stdin: Object.assign(Readable.from(input === '' ? [] : [input]), types === undefined ? {} : { isTTY: true }),
      stdout: output(said.out),
      stderr: output(said.err),
      env: environment(root, env),
      cwd,
      onInterrupt(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      exit: end,
    };
    void main(args, io).then(end);
  });
  const interrupt = (): void => [...listeners].forEach((listener) => listener());
  return { ended, interrupt, says: said.says(ended), said: said.text };
}

function spawnGuild(root: string, given: Given, args: string[]): Spawned {
  const { env, input, cwd = root, tty } = given;
  look(root, given);
  const pretend = `for (const s of [process.stdout, process.stderr]) Object.assign(s, ${JSON.stringify({ isTTY: true, ...tty })})`;
  const onTty = tty ? ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`] : [];
  const child = spawn(process.execPath, [...onTty, ...GUILD, ...args], {
    cwd,
    env: environment(root, env),
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  const said = listen();
  child.stdout.on('data', (chunk: Buffer) => said.out(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => said.err(chunk.toString()));
  const ended = new Promise<Ran>((resolve) => child.once('close', (code) => resolve({ code, ...said.all() })));
  return { child, ended, interrupt: () => void child.kill('SIGINT'), says: said.says(ended), said: said.text };
}

const SAYS_LIMIT_MS = 120_000;

function listen() {
  const said = { out: '', err: '' };
  const looks = new Set<() => void>();
  const keep = (name: 'out' | 'err') => (text: string) => {
    said[name] += text;
    for (const look of looks) look();
  };
  return {
    out: keep('out'),
    err: keep('err'),
    all: () => said,
    text: () => said.out + said.err,
    says:
      (ended: Promise<Ran>): Running['says'] =>
      (what) =>
        new Promise((resolve, reject) => {
          const look = (): void => {
            const match = what.exec(said.out + said.err);
            if (!match) return;
            looks.delete(look);
            resolve(match[1] ?? match[0]);
          };
          looks.add(look);
          look();
          // A test that waits for words that never come must fail, not hang.
          const patience = setTimeout(
            () => reject(new Error(`it never said ${what}: ${said.out}${said.err}`)),
            SAYS_LIMIT_MS,
          );
          patience.unref();
          void ended.then(() => reject(new Error(`it ended without saying ${what}: ${said.out}${said.err}`)));
        }),
  };
}

/** Waits for `what`; rejects with the output of the first process that ends too early. */
export async function whileRunning<T>(running: Running[], what: Promise<T>): Promise<T> {
  const early = running.map(async ({ ended }): Promise<never> => {
    const { code, out, err } = await ended;
    throw new Error(`a process ended with ${code} before it was time: ${out}${err}`);
  });
  for (const one of early) one.catch(() => undefined);
  return Promise.race([what, ...early]);
}

/** A workspace whose model is this script, with one agent or more. */
export function scripted(script: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    'guild.yaml':
      'model: pretend/x\nproviders:\n  pretend: { kind: scripted, script: script.yaml }\ndefault_agent: boss\nwatch: { rescan: 1s }\n',
    'script.yaml': script,
    'agents/boss.md': '---\ndescription: Does it\ntools: [read_file, delegate_to_agent]\n---\nYou are the boss.\n',
    'agents/hand.md': '---\ndescription: Helps\ntools: [list_directory]\n---\nYou are the hand.\n',
    ...more,
  };
}

export function succeeds(ran: Ran): Ran {
  assert.equal(ran.code, 0, `${ran.out}\n${ran.err}`);
  return ran;
}

/** Runs on a terminal of this size. */
export function onTerminal(columns: number, { rows = 20, ...more }: Given & { rows?: number } = {}): Given {
  return { ...more, tty: { columns, rows } };
}
