/**
 * `git status`, `git log` and `git diff`, with options that only read the repository. Only
 * `--no-pager` and `-P` may precede the verb. Git accepts abbreviated long options, so only full
 * names are allowed. A value in the next word is judged like an operand.
 */
import { secretPath, type Places } from '../never/secrets.js';

export function whyNotGit(words: string[], places: Places): string | undefined {
  let at = 0;
  while (words[at] === '--no-pager' || words[at] === '-P') at++;
  const verb = words[at] ?? '';
  const list = Object.hasOwn(VERBS, verb) ? VERBS[verb as keyof typeof VERBS] : undefined;
  if (list === undefined) return 'only git status, git log and git diff are on the list of read-only commands';
  let options = true;
  for (const word of words.slice(at + 1)) {
    if (options && word === '--') options = false;
    else if (options && word.startsWith('-') && word !== '-') {
      const why = whyNotOption(word, list, places);
      if (why !== undefined) return why;
    } else {
      const secret = secretOperand(word, places);
      if (secret !== undefined) return secret;
    }
  }
  return undefined;
}

function whyNotOption(word: string, list: Verb, places: Places): string | undefined {
  if (word.startsWith('--')) {
    const [name, ...rest] = word.slice(2).split('=');
    const value = rest.length > 0 ? rest.join('=') : undefined;
    if (!list.long.has(name!)) return notListed(word);
    // %G… makes Git run gpg.
    if (value !== undefined && /%G/.test(value)) return 'a format with %G runs a program to check signatures';
    return value === undefined ? undefined : secretOperand(value, places);
  }
  if (list.numbers && /^-\d+$/.test(word)) return undefined;
  for (let at = 1; at < word.length; at++) {
    const letter = word[at]!;
    if (list.flags.includes(letter)) continue;
    if (!list.values.includes(letter)) return notListed(`-${letter}`);
    return secretOperand(word.slice(at + 1), places);
  }
  return undefined;
}

function notListed(option: string): string {
  return `git option ${option.slice(0, 40)} is not known to be read-only`;
}

/** A path, a revision, `revision:path`, `:(magic)path` or a range. */
function secretOperand(word: string, places: Places): string | undefined {
  if (/%G/.test(word)) return 'a format with %G runs a program to check signatures';
  for (const path of [word, ...word.split(/[:)!^,]/)]) {
    const secret = path === '' ? undefined : secretPath(path, places);
    if (secret !== undefined) return secret;
  }
  return undefined;
}

interface Verb {
  flags: string;
  /** Letters with a value, attached or as the next word. */
  values: string;
  long: Set<string>;
  numbers: boolean;
}

const DIFF = `patch no-patch unified function-context raw patch-with-raw patch-with-stat numstat shortstat dirstat cumulative
  dirstat-by-file check summary name-only name-status stat stat-width stat-name-width stat-graph-width stat-count
  compact-summary binary full-index color no-color ws-error-highlight abbrev no-abbrev src-prefix dst-prefix line-prefix no-prefix
  default-prefix inter-hunk-context output-indicator-new output-indicator-old output-indicator-context break-rewrites
  find-renames irreversible-delete find-copies find-copies-harder no-renames rename-empty no-rename-empty follow no-follow minimal
  ignore-all-space ignore-space-change ignore-space-at-eol ignore-cr-at-eol ignore-blank-lines ignore-matching-lines
  indent-heuristic no-indent-heuristic patience histogram diff-algorithm anchored word-diff word-diff-regex color-words
  color-moved no-color-moved color-moved-ws no-color-moved-ws relative no-relative text no-ext-diff no-textconv
  ignore-submodules ita-invisible-in-index pickaxe-all pickaxe-regex rotate-to skip-to find-object diff-filter cc
  combined-all-paths exit-code quiet`;
const LOG = `oneline graph all branches tags remotes glob exclude decorate no-decorate decorate-refs decorate-refs-exclude
  clear-decorations source mailmap no-mailmap use-mailmap max-count skip since after until before since-as-filter author
  committer grep all-match invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp merges
  no-merges min-parents max-parents no-min-parents no-max-parents first-parent not reflog walk-reflogs grep-reflog merge
  boundary cherry-pick cherry-mark cherry left-only right-only left-right simplify-merges simplify-by-decoration full-history
  dense sparse ancestry-path show-pulls date-order author-date-order topo-order reverse no-walk do-walk pretty format
  abbrev-commit no-abbrev-commit encoding expand-tabs no-expand-tabs notes no-notes show-notes date relative-date parents
  children show-linear-break log-size remove-empty diff-merges no-diff-merges remerge-diff dd t exclude-first-parent-only
  single-worktree alternate-refs end-of-options root bisect`;
const STATUS = `short branch show-stash porcelain long verbose untracked-files ignore-submodules ignored null column no-column
  ahead-behind no-ahead-behind renames no-renames find-renames`;

const VERBS = {
  status: { flags: 'sbvz', values: 'uM', long: names(STATUS), numbers: false },
  log: { flags: 'pusRabwWimgEFPtzqr', values: 'nSGULMBlX', long: names(`${DIFF} ${LOG}`), numbers: true },
  diff: {
    flags: 'pusRabwWztqr0123',
    values: 'SGUMBlXI',
    long: names(`${DIFF} cached staged merge-base base ours theirs`),
    numbers: false,
  },
} satisfies Record<string, Verb>;

function names(text: string): Set<string> {
  return new Set(text.split(/\s+/).filter(Boolean));
}
