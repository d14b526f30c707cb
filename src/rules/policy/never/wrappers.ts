/**
 * Programs that start other programs. `unwrap` returns the commands and literal scripts that a
 * command would start. If it is unknown whether an option takes a value, both readings are
 * followed: an extra reading is cheap, a missed command is not.
 */
import { type Arg, argOf } from './shape.js';

/** The words of one command. A line may nest a thousand wrappers, so nothing copies the rest. */
export interface Words {
  args: Arg[];
  /** The last index of a word with downloaded text; -1 if there is none. */
  lastFetched: number;
  /** The last index of a word with shell syntax in it; -1 if there is none. */
  lastSyntax: number;
}

export function wordsOf(args: Arg[]): Words {
  return {
    args,
    lastFetched: args.findLastIndex((arg) => arg.fetched),
    lastSyntax: args.findLastIndex(({ script }) => !PLAIN_WORD.test(script) || RESERVED.has(script)),
  };
}

/** Neither an assignment nor any other word that a shell would read differently. */
const PLAIN_WORD = /^(?!\w+\+?=)[\w./:=@%+,-]*$/;
const RESERVED = new Set('if then elif else fi for while until do done case esac select function coproc in'.split(' '));

/** Commands with other words, and scripts, are created on demand: there may be very many. */
interface Unwrapped {
  /** Where further commands start among the same words. */
  starts: number[];
  argvs: (() => Arg[])[];
  scripts: (() => string)[];
}

export function isInterpreter(name: string): boolean {
  return SHELLS.has(name) || INTERPRETERS.test(name) || RUNS_TEXT.has(name);
}

const RUNS_TEXT = new Set(['eval', 'source', '.', 'at', 'batch', 'crontab', 'parallel']);

/** `at` is the index of the program `name`. */
export function unwrap(name: string, words: Words, at: number, stdin: string | undefined): Unwrapped {
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper !== undefined) return unwrapped(name, words, at, wrapper, stdin);
  const { args } = words;
  const first = at + (args[at + 1]?.text === '--' && (name === 'eval' || name === 'trap') ? 2 : 1);
  if (SHELLS.has(name)) return scripts(shellScripts(args, first, stdin));
  if (name === 'eval') return asText(words, [first]);
  if (name === 'find') return { ...NONE, argvs: findArgvs(args, first) };
  if (name === 'trap') return scripts(args.slice(first, first + 1).map((arg) => arg.script));
  if ((name === '.' || name === 'source') && stdin !== undefined) return scripts([stdin]);
  if (name === 'watch' || name === 'ssh') return asText(words, textStarts(name, args, first));
  if (WITH_TEXT.has(name)) return scripts(textOption(args.slice(first)));
  if (CONTAINERS.has(name)) return { ...NONE, starts: containerStarts(args, first) };
  return NONE;
}

function scripts(texts: string[]): Unwrapped {
  return { ...NONE, scripts: texts.map((text) => () => text) };
}

/**
 * For a program that joins its words into a script, from one of these positions to the end. Words
 * without shell syntax keep their meaning; parsing them again at each level would be slow.
 */
function asText({ args, lastSyntax }: Words, starts: number[]): Unwrapped {
  const plain = starts.filter((start) => start > lastSyntax);
  const others = starts.filter((start) => start <= lastSyntax);
  return { starts: plain, argvs: [], scripts: others.map((start) => () => joined(args, start)) };
}

function unwrapped(name: string, words: Words, from: number, wrapper: Wrapper, stdin: string | undefined): Unwrapped {
  const inner: Unwrapped = { starts: [], argvs: [], scripts: [] };
  follow(words, from, wrapper, inner);
  if (name === 'xargs' && stdin !== undefined) {
    const fed = stdin
      .split(/\s+/)
      .filter(Boolean)
      .slice(0, 200)
      .map((word) => argOf(word.replace(/['"\\]/g, '')));
    inner.argvs = inner.starts.flatMap((start) => {
      const argv = words.args.slice(start);
      return [() => [...argv, ...fed], ...replaced(argv, fed)];
    });
    if (inner.argvs.length === 0) inner.argvs.push(() => fed);
  }
  return inner;
}

/**
 * Of plain wrappers in a row (`env nice env …`) only the last matters; a line may have thousands.
 */
export function withoutRepeats({ args }: Words, from: number): number {
  let at = from;
  for (let next = from + 1; next < args.length && isPlain(args[at]!); next++) {
    if (isPlain(args[next]!)) at = next;
    else if (args[next]!.text !== '-') break;
  }
  return at;
}

function isPlain({ name }: Arg): boolean {
  return name !== undefined && PLAIN.has(name);
}

const PLAIN = new Set([
  'env',
  'command',
  'builtin',
  'exec',
  'nohup',
  'nice',
  'time',
  'setsid',
  'eval',
  'xargs',
  'ionice',
]);

const NONE: Unwrapped = { starts: [], argvs: [], scripts: [] };

interface Wrapper {
  /** Letters that take a value, attached or as the next word. */
  values: string;
  /** Letters that take no value. */
  flags: string;
  /** Words before the command, such as the time of `timeout`. */
  skip: number;
  /** `NAME=value` words may come first. */
  assignments?: boolean;
  /** Letters after which no program is started. */
  only?: string;
  /** Letters whose value is a command line. */
  split?: string;
}

const WRAPPERS: Record<string, Wrapper> = {
  env: { values: 'uCa', flags: 'i0v', skip: 0, assignments: true, split: 'S' },
  command: { values: '', flags: 'p', skip: 0, only: 'vV' },
  builtin: { values: '', flags: '', skip: 0 },
  exec: { values: 'a', flags: 'cl', skip: 0 },
  nohup: { values: '', flags: '', skip: 0 },
  nice: { values: 'n', flags: '0123456789', skip: 0 },
  ionice: { values: 'cn', flags: 't', skip: 0, only: 'pPu' },
  timeout: { values: 'ks', flags: 'vfp', skip: 1 },
  time: { values: 'fo', flags: 'pavV', skip: 0 },
  setsid: { values: '', flags: 'cfw', skip: 0 },
  stdbuf: { values: 'ioe', flags: '', skip: 0 },
  xargs: { values: 'adEILnPs', flags: '0optrxeil', skip: 0 },
  busybox: { values: '', flags: '', skip: 0 },
  toybox: { values: '', flags: '', skip: 0 },
  chroot: { values: '', flags: '', skip: 1 },
  doas: { values: 'uC', flags: 'nsL', skip: 0 },
  strace: { values: 'oeEpPaSsIOuXb', flags: 'cCdDfFhiknqrtTvVwxyYz', skip: 0 },
  ltrace: { values: 'oeEpPaSsuln', flags: 'bcCfirtTvV', skip: 0 },
  unshare: { values: 'SGRw', flags: 'muinpUCTrcf', skip: 0 },
  nsenter: { values: 'tSGW', flags: 'amuinpUCTrwFZ', skip: 0 },
  taskset: { values: '', flags: 'acp', skip: 1 },
  chrt: { values: 'TPD', flags: 'bfiordamvp', skip: 1 },
  flock: { values: 'wE', flags: 'sxeunoFv', skip: 1, split: 'c' },
  fakeroot: { values: 'lsib', flags: 'uhv', skip: 0 },
  unbuffer: { values: '', flags: 'p', skip: 0 },
  caffeinate: { values: 'tw', flags: 'dimsu', skip: 0 },
  'systemd-run': { values: 'upMHE', flags: 'rtPqGSd', skip: 0 },
  'xvfb-run': { values: 'efnspw', flags: 'al', skip: 0 },
  parallel: { values: 'jNIaSCnLdEP', flags: 'kmuXqvt0', skip: 0 },
  rlwrap: { values: 'bcDfHlmnpPqsStz', flags: 'aACehiorRuvw', skip: 0 },
  pkexec: { values: '', flags: '', skip: 0 },
  sg: { values: '', flags: '', skip: 1, split: 'c' },
  torsocks: { values: 'uap', flags: 'iqd', skip: 0 },
  proxychains: { values: 'f', flags: 'q', skip: 0 },
  proxychains4: { values: 'f', flags: 'q', skip: 0 },
};

const MAX_READINGS = 8;

/**
 * Removes the wrapper, its options, assignments and leading words; there may be several readings.
 */
function follow(words: Words, name: number, wrapper: Wrapper, inner: Unwrapped): void {
  const { args } = words;
  const starts = new Set<number>();
  const tried = new Set<number>();
  const open = [{ at: name + 1, skipped: 0 }];
  for (let from = open.pop(); from !== undefined && starts.size < MAX_READINGS; from = open.pop()) {
    let { at, skipped } = from;
    for (; at < args.length; at++) {
      // Another reading reached this place before.
      if (tried.has(at * 2 + skipped)) break;
      tried.add(at * 2 + skipped);
      const { text } = args[at]!;
      if (text === '--') {
        starts.add(at + 1 + wrapper.skip - skipped);
        break;
      }
      if (text.startsWith('--')) {
        if (text.startsWith('--split-string=')) inner.scripts.push(() => text.slice(text.indexOf('=') + 1));
        // `--name value` or `--name` and then the command: follow both.
        if (!text.includes('=')) open.push({ at: at + 2, skipped });
      } else if (text.startsWith('-') && text.length > 1) {
        const step = readShort(text, words, at + 1, wrapper, inner);
        if (step === undefined) break;
        if (step === 'unsure') open.push({ at: at + 2, skipped });
        if (step === 1) at++;
      } else if (text === '-' || (wrapper.assignments && /^[A-Za-z_]\w*=/.test(text))) continue;
      else if (skipped < wrapper.skip) skipped++;
      else {
        starts.add(at);
        // If the same wrapper follows, unwrapping it finds the other readings.
        if (wrapper.skip === 0 && WRAPPERS[args[at]!.name ?? ''] === wrapper) open.length = 0;
        break;
      }
    }
  }
  for (const start of starts) if (start < args.length) inner.starts.push(start);
}

/** How many further words the option takes; undefined if no program is started. */
function readShort(
  text: string,
  { args, lastSyntax }: Words,
  next: number,
  wrapper: Wrapper,
  inner: Unwrapped,
): 0 | 1 | 'unsure' | undefined {
  for (let at = 1; at < text.length; at++) {
    const letter = text[at]!;
    if (wrapper.flags.includes(letter)) continue;
    if (wrapper.only?.includes(letter)) return undefined;
    const attached = text.slice(at + 1);
    if (wrapper.split?.includes(letter)) {
      // Words without shell syntax stay the same when a shell splits them again.
      if (attached === '' && next > lastSyntax) return 'unsure';
      inner.scripts.push(() => `${attached} ${joined(args, next)}`);
      return attached === '' ? 1 : 0;
    }
    if (wrapper.values.includes(letter)) return attached === '' ? 1 : 0;
    return 'unsure';
  }
  return 0;
}

const SHELLS = new Set('sh bash dash zsh ksh mksh ash rbash fish csh tcsh oksh yash'.split(' '));
const INTERPRETERS =
  /^(python|pypy|perl|ruby|php|lua|luajit|tclsh|node)[\d.]*$|^(nodejs|deno|bun|tsx|ts-node|irb|rscript|osascript|pwsh|powershell|groovy|ghci|runghc|jshell|elixir|guile|ipython[\d.]*)$/;

/** Literal text that a shell would run: after -c, or on its standard input. */
function shellScripts(args: Arg[], first: number, stdin: string | undefined): string[] {
  let command = false;
  for (let at = first; at < args.length; at++) {
    const { text } = args[at]!;
    if (text === '--rcfile' || text === '--init-file') at++;
    else if (/^[-+][A-Za-z]+$/.test(text) && !text.startsWith('--')) {
      if (text.startsWith('-') && text.includes('c')) command = true;
      if (/[oO]$/.test(text)) at++;
      if (text.includes('s') && stdin !== undefined && !command) return [stdin];
    } else if (!command && /^\/dev\/(stdin|fd\/0)$/.test(text)) break;
    else if (!text.startsWith('--') && text !== '-') return command ? [args[at]!.script] : [];
  }
  return stdin === undefined ? [] : [stdin];
}

/**
 * Each command of -exec. A nested `find` is read in the same pass, because a line may nest many.
 */
function findArgvs(args: Arg[], first: number): (() => Arg[])[] {
  const all: (() => Arg[])[] = [];
  let { roots, end: at } = findRoots(args, first, [argOf('.')]);
  for (; at < args.length; at++) {
    if (!/^-(exec|execdir|ok|okdir)$/.test(args[at]!.text)) continue;
    const start = at + 1;
    let inner = start;
    while (inner < args.length && isPlain(args[inner]!)) inner++;
    if (args[inner]?.name === 'find') {
      ({ roots, end: at } = findRoots(args, inner + 1, roots));
      at--;
      continue;
    }
    // As in find itself, the words up to the end of a command belong to it.
    for (at = start; at < args.length && args[at]!.text !== ';' && args[at]!.text !== '+';) at++;
    all.push(...replaced(args.slice(start, at), roots));
  }
  return all;
}

/** The places where a `find` starts, and the index of its first test. */
function findRoots(args: Arg[], start: number, outer: Arg[]): { roots: Arg[]; end: number } {
  const roots: Arg[] = [];
  let end = start;
  for (; end < args.length; end++) {
    const arg = args[end]!;
    if (/^[(!]|^-[^HLPO]|^-$/.test(arg.text)) break;
    if (arg.text === '{}') roots.push(...outer);
    else if (!arg.text.startsWith('-')) roots.push(arg);
  }
  return { roots: roots.length > 0 ? roots.slice(0, 20) : [argOf('.')], end };
}

/**
 * Replaces `{}` by each of the values. Each command gets a copy of the first word, because
 * `DenyWalk` remembers by that object what it has examined.
 */
function replaced(argv: Arg[], values: Arg[]): (() => Arg[])[] {
  if (!argv.some((arg) => arg.text.includes('{}'))) return [() => argv];
  return values.slice(0, 20).map(
    (value) => () =>
      argv.map((arg, n) => {
        if (arg.text.includes('{}')) return argOf(arg.text.replaceAll('{}', value.text), arg.fetched);
        return n === 0 ? { ...arg } : arg;
      }),
  );
}

const CONTAINERS = new Set(['docker', 'podman', 'nerdctl', 'kubectl', 'oc', 'lxc']);

/**
 * For `docker exec c sh`: the options are not known here, so the command may start at any of the
 * first words.
 */
function containerStarts(args: Arg[], first: number): number[] {
  const isVerb = ({ text }: Arg): boolean => text === 'exec' || text === 'run';
  let verb = first;
  while (verb < args.length && !isVerb(args[verb]!)) verb++;
  return args.slice(verb + 1, verb + 13).flatMap((arg, n) => (arg.text.startsWith('-') ? [] : [verb + 1 + n]));
}

/**
 * For `watch` and `ssh host …`: options differ between versions, so every possible start of the
 * command is tried.
 */
function textStarts(name: string, args: Arg[], first: number): number[] {
  const starts: number[] = [];
  for (let at = name === 'watch' ? first : first + 1; at < args.length && starts.length < 3; at++)
    if (!args[at]!.text.startsWith('-')) starts.push(at);
  return starts;
}

/** Programs that pass the value of an option to a shell: `su -c`, `script -c`. */
const WITH_TEXT = new Set(['su', 'runuser', 'script']);

function textOption(args: Arg[]): string[] {
  const at = args.findIndex((arg) => /^-[a-z]*c$|^--command$/.test(arg.text));
  const attached = args.find((arg) => arg.text.startsWith('--command='));
  const text = at >= 0 ? args[at + 1]?.script : attached?.script.slice('--command='.length);
  return text === undefined ? [] : [text];
}

function joined(args: Arg[], start: number): string {
  return args
    .slice(start)
    .map((arg) => arg.script)
    .join(' ');
}
