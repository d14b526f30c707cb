/** `guild model-server`: serves a model script as an OpenAI-compatible API. */
import fs from 'node:fs';
import path from 'node:path';
import { serveScript } from '../../app/serve-script.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import { EXIT, text, integerOption, type Command } from '../args/command.js';
import { interrupted } from '../process/interrupt.js';

export const command: Command = {
  usage: 'model-server',
  about: `
Serves a model script as an OpenAI-compatible API at http://127.0.0.1:PORT/v1, for tests and demonstrations. The script can also
fail, stall and break off: see docs/explanation/models.md.

  OPENAI_BASE_URL=http://127.0.0.1:8123/v1 guild run planner "Hello"`,
  options: {
    script: {
      type: 'string',
      value: 'FILE',
      about: 'the script (default: script.yaml of the workspace, otherwise a built-in one that echoes)',
    },
    port: { type: 'string', value: 'N', about: 'port (default 8123); 0 picks a free one' },
    host: { type: 'string', value: 'ADDR', about: 'address to listen on (default 127.0.0.1)' },
  },
  maxWords: 0,
  async run({ values, root, terminal, json, io }) {
    const script = text(values, 'script');
    const file = script === undefined ? path.join(root, 'script.yaml') : path.resolve(io.cwd, script);
    if (script !== undefined && !fs.existsSync(file))
      throw new ProblemError(problem('not_found', `there is no script ${script}`));
    const port = integerOption(values, 'port', [0, 65535]) ?? 8123;
    const host = text(values, 'host') ?? '127.0.0.1';
    const server = await serveScript({ file: fs.existsSync(file) ? file : undefined, port, host }).catch(
      (error: unknown) => {
        throw new ProblemError(cannotListen(error as NodeJS.ErrnoException, host, port));
      },
    );
    if (json) terminal.json({ url: server.url });
    else terminal.out(server.url);
    terminal.say(terminal.dim(`serving ${fs.existsSync(file) ? file : 'the built-in echo'} (Ctrl-C stops)`));
    await interrupted(io);
    await server.close();
    return EXIT.done;
  },
};

function cannotListen({ code, message }: NodeJS.ErrnoException, host: string, port: number): Problem {
  const why: Record<string, string> = {
    EADDRINUSE: 'the port is in use',
    EACCES: 'this port needs more permissions',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'there is no such address',
  };
  return problem('bad_usage', `cannot listen on ${host}:${port}: ${why[code ?? ''] ?? message}`, {
    hint: 'choose another with --port or --host; --port 0 picks a free one',
  });
}
