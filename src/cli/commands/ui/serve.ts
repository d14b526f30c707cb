/** `guild serve`: lets other programs send messages to the workspace. */
import { problem, type Problem, type ProblemError, problemError } from '../../../domain/problem.js';
import { serveDoors } from '../../../web/serve-hooks.js';
import { EXIT, integerOption, listOption, type Call, type Command } from '../../args/command.js';
import { interrupted } from '../../process/interrupt.js';
import { isAnyoneWorking } from './index.js';
import { LISTEN_OPTIONS, listeningOf } from './listening.js';
import { startWorker } from './worker.js';

const PORT = 4747;

export const command: Command = {
  usage: 'serve',
  about: `
Takes webhooks: each entry of "webhooks" in guild.yaml is a source with its own address. A call with a valid proof
becomes a message in the inbox, marked as untrusted data; any other is refused and counted (guild mail sources). GET /health
answers while the server runs. A source takes calls from the moment you trust it (guild trust) until you remove it.

It listens on this machine only. Other machines reach it with --host, and only with TLS: a certificate of your own
(--tls-cert, --tls-key), or a proxy that has one (--behind-proxy).

  webhooks:
    github: {kind: github, secret_env: GITHUB_WEBHOOK_SECRET, agent: planner}

If no process works on the workspace, guild serve starts guild watch, and stops it on exit. Where the work is in PostgreSQL it
always starts one, because only a process in this folder takes in its messages.`,
  options: {
    port: { type: 'string', value: 'N', about: `the port (default ${PORT}; 0: a free one)` },
    ...LISTEN_OPTIONS,
    'behind-proxy': {
      type: 'string',
      multiple: true,
      value: 'HOST,…',
      about: 'host names under which a proxy with TLS passes calls on',
    },
    'no-work': { type: 'boolean', about: 'do not start guild watch' },
  },
  maxWords: 0,
  async run(call) {
    const { root, io, terminal, json, values } = call;
    const port = integerOption(values, 'port', [0, 65_535]) ?? PORT;
    const proxied = listOption(values, 'behind-proxy');
    const listening = listeningOf(values, proxied);
    const server = await serveDoors({ root, env: io.env, port, listening, proxied, onRefused: refusals(call) });
    const sources = server.webhooks.sources();
    if (Object.keys(sources).length === 0) {
      await server.close();
      throw noSources();
    }
    const isWorked = values['no-work'] === true || (await isAnyoneWorking(root, { isInFolder: true }));
    const worker = isWorked ? undefined : startWorker(root, io.env);
    if (json) terminal.json({ port: server.port, sources: Object.keys(sources), worker: worker?.pid });
    for (const [name, { secret, secretEnv, isHeld }] of Object.entries(sources)) {
      if (!json) terminal.out(`${server.address}/hooks/${name}`);
      if (isHeld) terminal.problem(notTrusted(name), 'warning');
      else if (secret === undefined)
        terminal.problem(
          problem('bad_usage', `${name}: ${secretEnv} is not set, so every call is refused`, {
            hint: `set ${secretEnv} in the environment of guild serve, then start it again`,
          }),
          'warning',
        );
    }
    await interrupted(io);
    await worker?.stop();
    await server.close();
    return EXIT.done;
  },
};

/** The first refusal of each kind is printed; the log counts them all. */
function refusals({ terminal }: Call): (source: string, why: string) => void {
  const printed = new Set<string>();
  return (source, why) => {
    const line = `a call to ${source} was refused: ${why}`;
    if (printed.has(line) || printed.size > 100) return;
    printed.add(line);
    terminal.say(terminal.colour('yellow', `${line} (guild mail sources counts them)`));
  };
}

function notTrusted(name: string): Problem {
  return problem('needs_human', `${name} is not trusted yet, so every call is refused`, {
    hint: 'guild trust shows it and asks; it then takes effect at once',
  });
}

function noSources(): ProblemError {
  return problemError('bad_usage', 'guild.yaml names no webhooks', {
    where: { file: 'guild.yaml' },
    hint: 'add webhooks: {github: {kind: github, secret_env: GITHUB_WEBHOOK_SECRET}}',
  });
}
