/** `guild policy`: what the gates say, without doing anything. */
import { problem, ProblemError } from '../../../domain/problem.js';
import type { Command } from '../../args/command.js';

export const command: Command = {
  help: `guild policy test <command…>                             what the gate says to a command line: auto, notify, ask or deny
guild policy path [--agent NAME] [--tool TOOL] <path…>   what a file tool may do with a path: ok, ask or refuse

Without arguments both read lines from standard input; with --json, JSON lines {"id","command","agent"} or
{"id","agent","tool","path"}, and answer {"id","verdict","reason","ms"} for each.`,
  options: { agent: { type: 'string' }, tool: { type: 'string' } },
  async run(call) {
    const [word, ...words] = call.words;
    if (word === 'path') return (await import('./path.js')).policyPath({ ...call, words });
    if (word === 'test') {
      const { stdin, stdout, stderr } = call.io;
      const args = [...(call.json ? ['--json'] : []), '--', ...words];
      return (await import('./test-lines.js')).policyTest(args, { stdin, stdout, stderr, root: call.root });
    }
    const said = word === undefined ? 'guild policy needs test or path' : `guild policy has no ${JSON.stringify(word)}`;
    throw new ProblemError(problem('bad_usage', said, { hint: 'guild policy --help tells about both' }));
  },
};
