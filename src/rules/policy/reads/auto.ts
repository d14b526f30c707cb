/**
 * The commands that may run without approval, and with which arguments. Each has one function that
 * returns why a person must approve it, or undefined. The lists contain only what is known to be
 * read-only, so new features of a program are never included by accident.
 */
import { readOptions, type Options } from './options.js';
import { secretBelow, secretPath, type Places } from '../never/secrets.js';
import { whyNotFind } from './find.js';
import { globFitsAnyCase } from '../../../domain/wildcard.js';
import { whyNotGit } from './git.js';
import { whyNotPs } from './ps.js';

type WhyNot = (words: string[], places: Places) => string | undefined;

/** `argv[0]` is the bare name. Undefined if it may run without approval. */
export function whyNotAuto(argv: string[], places: Places): string | undefined {
  const [name = '', ...words] = argv;
  const judge = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return judge === undefined ? `${shown(name)} is not on the list of read-only commands` : judge(words, places);
}

const COMMANDS: Record<string, WhyNot> = {
  ls: files({
    flags: 'aAbBcCdDfFgGhHiklLmnNopqQrRsStuUvxXZ1',
    values: 'ITw',
    long: `all almost-all author escape block-size= ignore-backups color[=] directory dired classify[=] file-type format=
      full-time group-directories-first no-group human-readable si dereference-command-line
      dereference-command-line-symlink-to-dir hide= hyperlink[=] indicator-style= inode ignore= kibibytes dereference
      numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort=
      time= time-style= tabsize= width= context zero help version`,
    complete: true,
  }),
  cat: files({
    flags: 'AbeEnstTuv',
    long: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting help version',
    complete: true,
  }),
  head: files({
    flags: 'qvz',
    values: 'cn',
    long: 'bytes= lines= quiet silent verbose zero-terminated help version',
    complete: true,
    number: true,
  }),
  wc: files({
    flags: 'cmlLw',
    long: 'bytes chars lines max-line-length words total= help version files0-from=path',
    complete: true,
  }),
  pwd: bare({ flags: 'LP', long: 'logical physical help version', complete: true }),
  echo: (words, places) => firstSecret(words, { ...places, operand: undefined }),
  grep: whyNotGrep,
  date: whyNotDate,
  find: whyNotFind,
  ps: whyNotPs,
  git: whyNotGit,
  docker: (words) => whyNotContainers(words, DOCKER),
  podman: (words) => whyNotContainers(words, PODMAN),
};

function files(options: Options): WhyNot {
  return (words, places) => {
    if (words.length === 0) return undefined;
    const read = readOptions(words, options);
    return read.wrong ?? firstSecret([...read.operands, ...read.paths], places);
  };
}

function bare(options: Options): WhyNot {
  return (words) => readOptions(words, options).wrong;
}

function firstSecret(paths: string[], places: Places): string | undefined {
  for (const path of paths) {
    const secret = secretPath(path, places);
    if (secret !== undefined) return secret;
  }
  return undefined;
}

const GREP: Options = {
  flags: 'EFGPiywxzsvVbnHhoqaIrRLlcTZU',
  values: 'emdDABC',
  paths: 'f',
  long: `extended-regexp fixed-strings basic-regexp perl-regexp regexp= file=path ignore-case no-ignore-case word-regexp
    line-regexp null-data no-messages invert-match version help max-count= byte-offset line-number line-buffered
    with-filename no-filename label= only-matching quiet silent binary-files= text directories= devices= recursive
    dereference-recursive include= exclude= exclude-from=path exclude-dir= files-without-match files-with-matches count
    initial-tab null before-context= after-context= context= group-separator= no-group-separator color[=] colour[=] binary`,
  complete: true,
  number: true,
};

function whyNotGrep(words: string[], places: Places): string | undefined {
  const read = readOptions(words, GREP);
  if (read.wrong !== undefined) return read.wrong;
  const hasPatternOption = ['e', 'f', 'regexp', 'file'].some((name) => read.seen.has(name));
  const paths = hasPatternOption ? read.operands : read.operands.slice(1);
  const secret = firstSecret([...paths, ...read.paths, read.values.get('include') ?? ''], places);
  if (secret !== undefined) return secret;
  const include = read.values.get('include') ?? '*';
  if (/[^*]/.test(include) && globFitsAnyCase(include, '.env')) return `--include=${include} matches .env`;
  const isRecursive =
    ['r', 'R', 'recursive', 'dereference-recursive'].some((name) => read.seen.has(name)) ||
    [read.values.get('d'), read.values.get('directories')].some((value) => value?.startsWith('r'));
  if (!isRecursive) return undefined;
  for (const path of paths.length > 0 ? paths : ['.']) {
    const below = secretBelow(path, places);
    if (below !== undefined) return below;
  }
  return undefined;
}

function whyNotDate(words: string[], places: Places): string | undefined {
  const read = readOptions(words, {
    flags: 'Ru',
    values: 'd',
    paths: 'fr',
    attached: 'I',
    long: `date= debug file=path iso-8601[=] resolution rfc-email rfc-822 rfc-2822 rfc-3339= reference=path utc universal help version`,
  });
  if (read.wrong !== undefined) return read.wrong;
  const set = read.operands.find((operand) => !operand.startsWith('+'));
  if (set !== undefined) return `${shown(set)} would set the clock`;
  return firstSecret(read.paths, places);
}

const DOCKER: Options = {
  flags: 'alqs',
  values: 'fn',
  long: 'all filter= format= last= latest no-trunc quiet size help',
};
const PODMAN: Options = {
  flags: 'alqsp',
  values: 'fn',
  long: 'all external filter= format= last= latest no-trunc noheading ns namespace pod quiet size sort= help',
};

function whyNotContainers([verb, ...words]: string[], options: Options): string | undefined {
  if (verb !== 'ps') return 'only ps is on the list of read-only commands';
  const read = readOptions(words, options);
  return read.wrong ?? (read.operands.length > 0 ? `ps takes no ${shown(read.operands[0]!)}` : undefined);
}

function shown(word: string): string {
  const cut = word.length > 40 ? `${word.slice(0, 40)}…` : word;
  return cut === '' ? 'an empty word' : cut.replace(/[^\x20-\x7e…]/g, '?');
}
