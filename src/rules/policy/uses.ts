/**
 * Finds the content that a command line uses: the words that may name files, the folders they may
 * be relative to, and whether it may run or load files that it does not name. Only programs known
 * to use nothing but their operands are exempt; any other line counts as interpreting.
 */
import type { ParsedShell, ShellCommand, ShellNode, ShellScript, ShellWord } from '../../domain/shell.js';

interface LineUse {
  words: string[];
  /** The targets of `cd`, relative to where the line starts. */
  folders: string[];
  /** Words that may name a folder whose whole content is used. */
  trees: string[];
  interprets: boolean;
}

export function usesOf(line: string, parse: (line: string) => ParsedShell): LineUse {
  const parsed = parse(line);
  const script = parsed.ok ? parsed.script : parsed.partial;
  const use: LineUse = { words: [], folders: [], trees: [], interprets: !parsed.ok };
  if (script === undefined) use.words.push(...line.split(/\s+/));
  else addScript(script, use);
  use.words = [...new Set([...new Set(use.words)].flatMap(candidates))];
  return use;
}

function addScript(script: ShellScript, use: LineUse): void {
  for (const { node } of script.list.items) addNode(node, use);
}

function addNode(node: ShellNode, use: LineUse): void {
  switch (node.kind) {
    case 'command':
      return addCommand(node, use);
    case 'pipeline':
      return node.stages.forEach((stage) => addNode(stage, use));
    case 'list':
      return node.items.forEach((item) => addNode(item.node, use));
    case 'block':
      node.words.forEach((word) => addWord(word, use));
      node.redirections.forEach(({ target }) => addWord(target, use));
      return node.bodies.forEach((body) => addNode(body, use));
    case 'function':
      return addNode(node.body, use);
  }
}

function addCommand({ assignments, words, redirections }: ShellCommand, use: LineUse): void {
  const [name, ...rest] = words;
  for (const { values } of assignments) values.forEach((value) => addWord(value, use));
  for (const word of words) addWord(word, use);
  for (const { target } of redirections) addWord(target, use);
  // A variable such as PATH or LD_PRELOAD can make any program load a file.
  if (assignments.length > 0 && name !== undefined) use.interprets = true;
  if (name === undefined) return;
  if (name.value === 'cd') {
    const to = rest.find((word) => word.value !== undefined && !word.value.startsWith('-'))?.value;
    if (to !== undefined) use.folders.push(...['', ...use.folders].map((from) => (from === '' ? to : `${from}/${to}`)));
    return;
  }
  const isPlain = name.value !== undefined && name.text === name.value && PLAIN.has(name.value);
  const options = rest.map(({ value }) => value ?? '').join('\n');
  if (!isPlain || UNNAMED[name.value!]?.test(options)) use.interprets = true;
  if (isPlain) use.trees.push(...treesOf(name.value!, options.split('\n')));
}

/** The folders that a command copies, moves or compares. The last operand is usually a target. */
function treesOf(name: string, words: string[]): string[] {
  if (name === 'diff') return words;
  if (name !== 'cp' && name !== 'mv') return [];
  return words.some((word) => /^--?t/.test(word)) ? words : words.slice(0, -1);
}

function addWord(word: ShellWord, use: LineUse): void {
  if (word.value !== undefined) use.words.push(word.value);
  // A pattern or a variable may name any file.
  if (word.value === undefined || word.glob) use.interprets = true;
  for (const script of word.scripts) addScript(script, use);
}

/**
 * `--data=@notes.md`, `-Tnotes.md`, `-F 'x=<notes.md;type=text/plain'` and the like: a name may
 * follow one of these characters or an option letter, and end before `,` or `;`.
 */
function candidates(word: string): string[] {
  if (ONE_NAME.test(word)) return [word];
  if (word === '' || word.length > 4096 || word.includes('\0')) return [];
  const found = [word];
  for (const { index } of word.matchAll(/[=@:<,;]/g)) found.push(word.slice(index + 1));
  if (/^-[A-Za-z]./.test(word)) found.push(word.slice(2));
  const names =
    found.length > MAX_SUFFIXES
      ? [word, ...word.split(/[=@:<,;]/)]
      : found.flatMap((name) => [name, name.replace(/[,;][^]*/, '')]);
  return names.filter((candidate) => candidate !== '' && !candidate.startsWith('-'));
}

/** Matches most words: they contain no character that could separate a name from other text. */
const ONE_NAME = /^[\w./][\w./-]{0,4000}$/;

/** A text such as JSON has many suffixes, which together are many times as long as the text. */
const MAX_SUFFIXES = 100;

/** Programs that use nothing but their operands, and run nothing. */
const PLAIN = new Set(
  `cat head tail wc ls pwd echo printf date cut tr sort uniq comm join paste nl tac rev fold fmt expand seq test [ true false
  basename dirname realpath readlink stat file du df cp mv rm rmdir mkdir touch ln chmod truncate tee cmp diff md5sum
  sha1sum sha256sum sha512sum cksum base64 od hexdump grep egrep fgrep find sleep curl wget ps id whoami uname hostname
  exit : gzip gunzip zcat`.split(/\s+/),
);

const RECURSIVE = /^(?:-[A-Za-z]*[rR]|--(?:rec|der))/m;
const LISTED = /^--f/m;

/** Options with which these programs use files that the line does not name; one option per line. */
const UNNAMED: Partial<Record<string, RegExp>> = {
  find: /^-(?:exec|ok|files0)/m,
  grep: RECURSIVE,
  egrep: RECURSIVE,
  fgrep: RECURSIVE,
  sort: LISTED,
  wc: LISTED,
  du: LISTED,
  // A file of options (-K), and an upload (-T) whose name contains braces or brackets.
  curl: /^(?:-[A-Za-z#]*K|--conf)|^(?:-[A-Za-z#]*T|--upload-f)[^]*[{[]/m,
  wget: /^--conf/m,
};
