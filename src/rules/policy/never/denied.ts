/** Commands that are denied by name and arguments. Wrappers such as `env` are already removed. */
import { type Arg, couldBe, HOLE, HOME, isExact, STAR } from './shape.js';
import { plainPath, type Places } from './secrets.js';

export function deniedArgv(name: string, args: Arg[], places: Places): string | undefined {
  if (name === 'sudo' || name === 'sudoedit') return 'sudo is never allowed';
  if (name.startsWith('mkfs')) return `${name.slice(0, 20)} overwrites a file system`;
  if (DOWN.has(name)) return `${name} stops the machine`;
  if (name === 'dd') return writesDevice(args, places);
  if (name === 'rm') return removesTooMuch(args.slice(1), places);
  if (
    /^(perl|python[\d.]*|ruby)$/.test(name) &&
    args.some((arg) => /\bfork\b[\s\S]*\bfork\b|while[\s\S]*\bfork\b/.test(arg.text))
  ) {
    return 'it is a fork bomb';
  }
  return undefined;
}

const DOWN = new Set(['shutdown', 'reboot', 'halt', 'poweroff']);

function writesDevice(args: Arg[], places: Places): string | undefined {
  for (const { text } of args) {
    if (!text.startsWith('of=')) continue;
    const path = plainPath(text.slice(3), places).toLowerCase();
    if (path.startsWith('/dev/') && path !== '/dev/null') return 'dd would write to a device';
  }
  return undefined;
}

function removesTooMuch(args: Arg[], places: Places): string | undefined {
  let recursive = false;
  const operands: string[] = [];
  for (const [n, { text }] of args.entries()) {
    if (text === '--') {
      operands.push(...args.slice(n + 1).map((arg) => arg.text));
      break;
    }
    if (/^--n/.test(text) && '--no-preserve-root'.startsWith(text)) return 'rm --no-preserve-root is never allowed';
    if (/^--r/.test(text) && '--recursive'.startsWith(text)) recursive = true;
    else if (/^-[^-]*[rR]/.test(text)) recursive = true;
    else if (!text.startsWith('-') || text === '-') operands.push(text);
  }
  if (!recursive) return undefined;
  const home = plainPath(places.home ?? '/home/user', {});
  for (const operand of new Set(operands)) {
    const what = tooMuch(operand, home, places.cwd);
    if (what !== undefined) return `rm would remove ${what}`;
  }
  return undefined;
}

/** The removed directory, if it is the root, a system directory or a home directory. */
function tooMuch(operand: string, home: string, cwd: string | undefined): string | undefined {
  const spelled = operand.startsWith(HOME) ? home + operand.slice(1) : operand;
  if (!spelled.startsWith('/') && cwd === undefined) return undefined;
  const path = plainPath(spelled, { cwd });
  const [first, second, ...rest] = path.split('/').filter(Boolean);
  if (first === undefined || (second === undefined && isAll(first))) return 'the whole system';
  if (second === undefined)
    return couldBeSystem(first.toLowerCase()) && !isHole(first) ? 'a system directory' : undefined;
  const last = rest.at(-1) ?? second;
  const above = path.slice(0, path.lastIndexOf('/'));
  if (path === home || (above === home && isAll(last))) return 'the home directory';
  if (/^(home|users)$/i.test(first) && (rest.length === 0 || (rest.length === 1 && isAll(last)))) {
    return isHole(last) ? undefined : 'a home directory';
  }
  const system = rest.length === 0 && isAll(second) && !/^(tmp|mnt|media|run)$/i.test(first);
  return system && SYSTEM.has(first.toLowerCase()) ? 'all of a system directory' : undefined;
}

/** A word without marks stands for one name; a word with marks is compared with each name. */
function couldBeSystem(first: string): boolean {
  return isExact(first) ? SYSTEM.has(first) : [...SYSTEM].some((name) => couldBe(first, name));
}

function isAll(part: string): boolean {
  return part.includes(STAR) && !/[a-z0-9]/i.test(part) && !part.includes(HOLE);
}

function isHole(part: string): boolean {
  return part.includes(HOLE) || part.includes(HOME);
}

const SYSTEM = new Set(
  `bin boot cores dev etc home lib lib32 lib64 libx32 lost+found media mnt opt proc root run sbin snap srv sys tmp usr
  var applications library network private system users volumes`.split(/\s+/),
);
