/** `guild model-server`: serves a model script as an OpenAI-compatible API or as a provider. */
import fs from 'node:fs';
import path from 'node:path';
import { quirkNames, serveScript, STAND_IN_NAMES, type StandInName } from '../../app/serve-script.js';
import { nearestHint } from '../../domain/nearest.js';
import { problem, type Problem, ProblemError, problemError } from '../../domain/problem.js';
import { EXIT, text, integerOption, type Command, type Values } from '../args/command.js';
import { interrupted } from '../process/interrupt.js';

export const command: Command = {
  usage: 'model-server',
  about: `
Serves a model script as an OpenAI-compatible API at http://127.0.0.1:PORT/v1, for tests and demonstrations. The script can also
fail, stall and break off: see docs/explanation/models.md.

  OPENAI_BASE_URL=http://127.0.0.1:8123/v1 guild run planner "Hello"

With --as it plays a provider: it answers in that provider's format and refuses what that provider refuses. Every refusal names
the broken rules in the header x-guild-refused.

  guild model-server --as anthropic
  ANTHROPIC_BASE_URL=http://127.0.0.1:8123/v1 ANTHROPIC_API_KEY=any guild run planner "Hello"`,
  options: {
    script: {
      type: 'string',
      value: 'FILE',
      about: 'the script (default: script.yaml of the workspace, otherwise a built-in one that echoes)',
    },
    port: { type: 'string', value: 'N', about: 'port (default 8123); 0 picks a free one' },
    host: { type: 'string', value: 'ADDR', about: 'address to listen on (default 127.0.0.1)' },
    as: { type: 'string', value: 'PROVIDER', about: `play a provider: ${STAND_IN_NAMES.join(', ')}` },
    quirk: { type: 'string', value: 'NAME', about: 'with --as: a fault of real servers; "list" shows the names' },
  },
  maxWords: 0,
  async run({ values, root, terminal, json, io }) {
    const script = text(values, 'script');
    const file = script === undefined ? path.join(root, 'script.yaml') : path.resolve(io.cwd, script);
    if (script !== undefined && !fs.existsSync(file)) throw problemError('not_found', `there is no script ${script}`);
    const port = integerOption(values, 'port', [0, 65535]) ?? 8123;
    const host = text(values, 'host') ?? '127.0.0.1';
    const as = providerOption(values);
    const quirks = as === undefined ? [] : await quirkNames(as);
    const quirk = quirkOption(values, quirks);
    if (quirk === 'list') {
      if (json) terminal.json(quirks);
      else for (const { name, says } of quirks) terminal.out(`${name}: ${says}`);
      return EXIT.done;
    }
    const server = await serveScript({ file: fs.existsSync(file) ? file : undefined, port, host, as, quirk }).catch(
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

function providerOption(values: Values): StandInName | undefined {
  const as = text(values, 'as');
  const known = STAND_IN_NAMES.find((name) => name === as);
  if (as === undefined || known !== undefined) return known;
  throw problemError('bad_usage', `there is no stand-in for ${JSON.stringify(as)}`, {
    hint: nearestHint(as, STAND_IN_NAMES, `it can play ${STAND_IN_NAMES.join(', ')}`),
  });
}

function quirkOption(values: Values, quirks: { name: string }[]): string | undefined {
  const quirk = text(values, 'quirk');
  if (quirk === undefined) return undefined;
  if (quirks.length === 0) throw problemError('bad_usage', '--quirk needs --as', { hint: 'add --as' });
  const names = quirks.map(({ name }) => name);
  if (quirk === 'list' || names.includes(quirk)) return quirk;
  throw problemError('bad_usage', `there is no quirk ${JSON.stringify(quirk)}`, {
    hint: nearestHint(quirk, names, '--quirk list shows the names'),
  });
}

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
