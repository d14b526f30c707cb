/** `guild policy`: what the gates say, without doing anything. */
import { problem, ProblemError } from '../domain/problem.js';
import type { Command } from './command.js';

export const command: Command = {
  help: `guild policy path [--agent NAME] [--tool TOOL] <path…>   what a file tool may do with a path: ok, ask or refuse

Without paths it reads lines from standard input; with --json, JSON lines {"id","agent","tool","path"}, and
answers {"id","verdict","reason","ms"} for each.`,
  options: { agent: { type: 'string' }, tool: { type: 'string' } },
  async run(call) {
    const [word, ...words] = call.words;
    if (word === 'path') return (await import('./policy-path.js')).policyPath({ ...call, words });
    throw new ProblemError(
      problem('bad_usage', `guild policy has no ${JSON.stringify(word ?? '')}`, { hint: 'it has path' }),
    );
  },
};
