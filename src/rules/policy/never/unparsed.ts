/**
 * A crude search of the text of a line that could not be parsed, and of lines that use `$IFS` as a
 * blank. It only ever denies, so its worst error is to deny a harmless line.
 */
import { deniedArgv } from './denied.js';
import { FETCHED, whyDenied, type DenyContext } from './deny.js';
import { argOf } from './shape.js';
import { isInterpreter, unwrap, wordsOf } from './wrappers.js';

export function denyUnparsed(line: string, parsed: boolean, context: DenyContext): string | undefined {
  if (line.length > 128 * 1024) line = line.slice(0, 128 * 1024);
  if (/\$\{?IFS/.test(line)) {
    const spaced = context.parse(line.replace(/\$\{IFS[^}]*\}|\$IFS(\$\d)?/g, ' '));
    const script = spaced.ok ? spaced.script : spaced.partial;
    const deny = script && whyDenied(script, context, line.length);
    if (deny !== undefined) return deny;
  }
  return parsed ? undefined : rawDeny(line, context);
}

function rawDeny(line: string, context: DenyContext): string | undefined {
  const text = line.replace(/\\\n|['"\\]/g, '');
  let fetched = false;
  // A hostile line often repeats one part.
  const judged = new Set<string>();
  for (const part of text.split(/([;&\n(){}`]|\|&?)/)) {
    if (part === '' || part === ' ') continue;
    if (/^[;&\n(){}`|]/.test(part)) {
      if (/^[;&\n]$/.test(part)) fetched = false;
      continue;
    }
    if (judged.has(part) && !fetched) continue;
    judged.add(part);
    const words = part.split(/[\s]+/).filter(Boolean);
    while (words.length > 0 && LEADING.test(words[0]!)) words.shift();
    const first = words
      .slice(0, 500)
      .map((word) =>
        argOf(word.replace(/\$\{?HOME\}?|^~(?=\/|$)/, context.home ?? '/home/user').replaceAll('*', '\uE000')),
      );
    const open = [first];
    for (let steps = 0; steps < MAX_STEPS && open.length > 0; steps++) {
      const args = open.pop()!;
      const name = args[0]?.name ?? '';
      const deny = deniedArgv(name, args, context);
      if (deny !== undefined) return deny;
      if (fetched && isInterpreter(name)) return FETCHED;
      if (name === 'curl' || name === 'wget') {
        fetched = true;
        judged.delete(part);
      }
      const inner = unwrap(name, wordsOf(args), 0, undefined);
      const script = inner.scripts[0]?.();
      if (script !== undefined) open.push(script.split(/\s+/).map((word) => argOf(word)));
      open.push(...inner.argvs.slice(0, 1).map((argv) => argv()), ...inner.starts.map((start) => args.slice(start)));
    }
  }
  return undefined;
}

/** How many commands that start each other are followed. */
const MAX_STEPS = 40;

/** Words that may precede the name of a command. */
const LEADING = /^([A-Za-z_]\w*=.*|!|then|do|else|elif|if|while|until|time|\{|\$)$/;
