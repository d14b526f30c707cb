/**
 * `guild completion`: a script for the shell. The shell asks `guild completion words …` for each
 * line, so commands, options and the ids of tasks, requests and agents are always current.
 */
import { agentNames } from '../../app/agent-names.js';
import { openDesk } from '../../app/approvals.js';
import { exampleNames } from '../../app/starter.js';
import { taskNames } from '../../app/readers/task-names.js';
import { compareText } from '../../domain/order.js';
import { isSafeId } from '../../domain/task/id.js';
import { shortIds } from '../../views/short-id.js';
import { EXIT, unknownWord, type Call, type Command } from '../args/command.js';

const SHELLS: Readonly<Record<string, string>> = {
  bash: `_guild() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$(printf %q "$word")")
  done < <(guild completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _guild guild`,
  zsh: `#compdef guild
_guild() {
  local -a found
  found=("\${(@f)$(guild completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- $found
}
compdef _guild guild`,
  fish: `function __guild_words
  set -l typed (commandline -opc) (commandline -ct)
  guild completion words -- $typed[2..] 2>/dev/null
end
complete -c guild -f -a '(__guild_words)'`,
};

export const command: Command = {
  usage: 'completion bash|zsh|fish',
  about: `
Prints a script that completes commands, options, agents and ids:

  source <(guild completion bash)
  guild completion zsh > "\${fpath[1]}/_guild"
  guild completion fish > ~/.config/fish/completions/guild.fish`,
  async run(call) {
    const [shell, ...typed] = call.words;
    if (shell === 'words') {
      const last = typed.at(-1) ?? '';
      // A word goes into a command line as it is, so names that a shell would run are left out.
      const found = (await candidates(call, typed)).filter((word) => word.startsWith(last) && PLAIN.test(word));
      for (const word of [...new Set(found)].sort(compareText)) call.terminal.out(word);
      return EXIT.done;
    }
    const script = SHELLS[shell ?? ''];
    if (script === undefined) throw unknownWord('completion', shell, Object.keys(SHELLS));
    call.terminal.out(script);
    return EXIT.done;
  },
};

const PLAIN = /^[\w.:@%+-]+$/;

async function candidates(call: Call, typed: string[]): Promise<string[]> {
  const [name = '', ...rest] = typed;
  const { commands, options } = await call.help();
  if (typed.length <= 1) return commands.map((command) => command.name);
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return [];
  const known = [...command.options, ...options];
  if (rest.at(-1)!.startsWith('-')) return known.map((one) => `--${one.name.replace(/^-+/, '')}`);
  const optionAt = (word = ''): (typeof known)[number] | undefined =>
    known.find((one) => one.name === word || one.short === word);
  const option = optionAt(rest.at(-2));
  if (option?.value) return valuesFor(option.name, option.placeholder, call.root);
  const words = rest.filter((word, i) => !word.startsWith('-') && optionAt(rest[i - 1])?.value !== true);
  if (ANSWERS.has(name) && words.length === 1) return requestIds(call);
  const forms = command.usage.map(({ form }) => form.split(' ').slice(2));
  return forms.flatMap((form) => wordsFor(form, words, call.root));
}

const ANSWERS = new Set(['approve', 'reject', 'edit', 'answer']);

async function requestIds(call: Call): Promise<string[]> {
  try {
    const desk = await openDesk(call.root, call.io.env);
    const open = desk.list().map(({ id }) => id);
    await desk.close();
    return [...open, ...shortIds(open, taskNames(call.root)).values()];
  } catch {
    return [];
  }
}

function valuesFor(option: string, placeholder: string | undefined, root: string): string[] {
  if (option === '--example') return exampleNames();
  return option === '--to' || placeholder === 'AGENT' ? agentNames(root) : [];
}

/** The words that this form allows in the last position. */
function wordsFor(form: string[], typed: string[], root: string): string[] {
  const before = typed.slice(0, -1);
  const fits = before.every((word, i) => form[i] === word || /^[<[]/.test(form[i] ?? ''));
  const next = form[before.length];
  if (!fits || next === undefined) return [];
  if (/agent/i.test(next)) return agentNames(root);
  if (/<id>|task|approval|<id>…/i.test(next)) return ids(root);
  return /^[a-z|-]+$/.test(next) ? next.split('|') : [];
}

function ids(root: string): string[] {
  // A file may have any name, also that of an option.
  const all = taskNames(root).filter(isSafeId);
  return [...all, ...shortIds(all, all).values()];
}
