/**
 * The expression language of `find`: tests, actions and operators, each with a fixed number of
 * arguments. Only read-only ones are listed; -exec, -ok, -delete, -fprint, -fls and unknown ones
 * are not.
 */
import { secretPath, type Places } from '../never/secrets.js';

export function whyNotFind(words: string[], places: Places): string | undefined {
  let at = 0;
  while (at < words.length && isGlobalOption(words[at]!)) at++;
  if (words[at] === '--') at++;
  for (; at < words.length && !startsExpression(words[at]!); at++) {
    const secret = secretPath(words[at]!, places);
    if (secret !== undefined) return secret;
  }
  while (at < words.length) {
    const word = words[at]!;
    const count = OPERATORS.has(word) ? 0 : wordsAfter(word);
    if (count === undefined) return `find ${word.slice(0, 40)} is not on the list of read-only tests`;
    if (at + count >= words.length && count > 0) return `find ${word} has no value`;
    // find would read the next word as a value, but the author probably meant an action.
    if (count === 1 && ACTS.test(words[at + 1]!)) return `find ${words[at + 1]} is not on the list of read-only tests`;
    const secret = READS.test(word) ? secretPath(words[at + 1]!, places) : undefined;
    if (secret !== undefined) return secret;
    at += 1 + count;
  }
  return undefined;
}

function isGlobalOption(word: string): boolean {
  return /^-[HLP]$|^-O[0-3]$/.test(word);
}

function startsExpression(word: string): boolean {
  return word.startsWith('-') || OPERATORS.has(word);
}

function wordsAfter(word: string): 0 | 1 | undefined {
  if (NONE.has(word)) return 0;
  return ONE.has(word) || /^-newer[aBcm][aBcmt]$/.test(word) ? 1 : undefined;
}

const OPERATORS = new Set(['(', ')', '!', ',', '-a', '-and', '-o', '-or', '-not']);
const NONE = set(`-daystart -depth -d -follow -ignore_readdir_race -noignore_readdir_race -mount -nowarn -warn -noleaf
  -xdev -empty -executable -false -nogroup -nouser -readable -true -writable -print -print0 -prune -quit -ls -help --help
  -version --version`);
const ONE = set(`-maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group
  -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -path -perm -regex -samefile -size
  -type -uid -used -user -wholename -xtype -printf`);
/** Tests that read another file. */
const READS = /^-(anewer|cnewer|newer|samefile|newer[aBcm][aBcm])$/;

const ACTS = /^-(exec|ok|delete|fprint|fls)/;

function set(text: string): Set<string> {
  return new Set(text.split(/\s+/));
}
