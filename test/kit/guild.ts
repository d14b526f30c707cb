/**
 * The command line as a person meets it: a folder, real processes, their output and exit codes. Compiled to dist/, the real
 * `bin/guild.mjs` runs; compiled elsewhere, the same main of that build.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

const BUILT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
export const ROOT = path.dirname(BUILT);
const MAIN = JSON.stringify(path.join(BUILT, 'src/cli/main.js'));
const SAME_MAIN = [
  '--input-type=module',
  '-e',
  `import { main } from ${MAIN}; process.exitCode = await main(process.argv.slice(1))`,
  '--',
];
const GUILD = path.basename(BUILT) === 'dist' ? [path.join(ROOT, 'bin/guild.mjs')] : SAME_MAIN;

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface Running {
  child: ChildProcess;
  /** Resolves, with the first group or the whole, when standard output or error has said this. */
  says(what: RegExp): Promise<string>;
  ended: Promise<Ran>;
}

export interface Place {
  root: string;
  guild(...args: string[]): Promise<Ran>;
  /** With variables in the environment, text on standard input, or Node options. */
  guildWith(given: Given, ...args: string[]): Promise<Ran>;
  start(...args: string[]): Running;
  startWith(given: Given, ...args: string[]): Running;
  put(file: string, text: string): void;
  read(file: string): string;
  list(folder: string): string[];
}

export interface Given {
  env?: Record<string, string>;
  input?: string;
  cwd?: string;
  /** Stands before the program: `--import` of something that changes the terminal. */
  node?: string[];
}

/** An empty folder, or one with these files. */
export function place(t: TestContext, files: Record<string, string> = {}): Place {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'guild-cli-')));
  const children = new Set<ChildProcess>();
  t.after(() => {
    for (const child of children) child.kill('SIGKILL');
    fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  });
  const start = (given: Given, args: string[]): Running => {
    const child = spawn(process.execPath, [...(given.node ?? []), ...GUILD, ...args], {
      cwd: given.cwd ?? root,
      env: { PATH: process.env['PATH'], HOME: root, ...given.env },
    });
    children.add(child);
    child.once('exit', () => children.delete(child));
    child.stdin.on('error', () => undefined);
    child.stdin.end(given.input ?? '');
    return running(child);
  };
  const here: Place = {
    root,
    guild: (...args) => start({}, args).ended,
    guildWith: (given, ...args) => start(given, args).ended,
    start: (...args) => start({}, args),
    startWith: (given, ...args) => start(given, args),
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

function running(child: ChildProcess): Running {
  const said = { out: '', err: '' };
  let look = (): void => undefined;
  child.stdout!.on('data', (chunk: Buffer) => ((said.out += chunk.toString()), look()));
  child.stderr!.on('data', (chunk: Buffer) => ((said.err += chunk.toString()), look()));
  const ended = new Promise<Ran>((resolve) => child.once('close', (code) => resolve({ code, ...said })));
  return {
    child,
    ended,
    says: (what) =>
      new Promise((resolve, reject) => {
        look = () => {
          const match = what.exec(said.out + said.err);
          if (match) resolve(match[1] ?? match[0]);
        };
        look();
        void ended.then(() => reject(new Error(`it ended without saying ${what}: ${said.out}${said.err}`)));
      }),
  };
}

/** Waits for something while these run: one that ends before it is told at once, with what it said. */
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

/** Makes the process take its streams for a terminal of this size. */
export function onTerminal(columns: number, { rows = 20, ...more }: Given & { rows?: number } = {}): Given {
  const code = `for (const s of [process.stdout, process.stderr]) Object.assign(s, { isTTY: true, columns: ${columns}, rows: ${rows} })`;
  return { ...more, node: ['--import', `data:text/javascript,${encodeURIComponent(code)}`] };
}
