/** `guild policy`: shows verdicts without running anything. */
import { problemError } from '../../../domain/problem.js';
import { EXIT, text, unknownWord, type Command } from '../../args/command.js';

export const command: Command = {
  usage: [
    ['policy test <command>…', 'show the verdict on a command line: auto, notify, ask or deny'],
    ['policy path <path>…', 'show the verdict on a path for a file tool: ok, ask or refuse'],
  ],
  about: `
Nothing is run. The verdict follows the rule files as they are, so that you can try a change before you trust it; a line on standard
error says if they are not trusted yet. Without arguments, lines are read from standard input. With --json these are JSON lines {"id","command","agent"}
or {"id","agent","tool","path"}, and each is answered with {"id","verdict","reason","ms"}.`,
  options: {
    agent: { type: 'string', value: 'NAME', about: 'path: the agent that uses the tool' },
    sandbox: {
      type: 'string',
      value: 'on|off',
      about: 'test: judge as with or without a sandbox (default: this machine)',
    },
    tool: { type: 'string', value: 'TOOL', about: 'path: the tool (default read_file)' },
  },
  async run(call) {
    const [word, ...words] = call.words;
    if (word === 'path') return (await import('./path.js')).policyPath({ ...call, words });
    if (word === 'test') {
      const sandbox = text(call.values, 'sandbox') ?? 'machine';
      if (sandbox !== 'on' && sandbox !== 'off' && sandbox !== 'machine')
        throw problemError('bad_usage', `--sandbox must be on or off, not ${JSON.stringify(sandbox)}`);
      const { policyTest } = await import('./test-lines.js');
      await policyTest({ ...call.io, lines: words, json: call.json, root: call.root, sandbox });
      return EXIT.done;
    }
    throw unknownWord('policy', word, ['test', 'path']);
  },
};
