/** `guild model-server`: a model script, served as an OpenAI-compatible API, with faults on demand. */
import fs from 'node:fs';
import path from 'node:path';
import { serveScript } from '../app/serve-script.js';
import { problem, ProblemError } from '../domain/problem.js';
import { EXIT, text, type Command } from './command.js';
import { onInterrupt } from './interrupt.js';

export const command: Command = {
  help: `guild model-server [--script FILE] [--port N] [--host ADDR]

Serves a model script (default: script.yaml of the workspace, else a small built-in one that echoes) at
http://127.0.0.1:PORT/v1, so that any OpenAI-compatible client can talk to it:

  OPENAI_BASE_URL=http://127.0.0.1:8123/v1 guild run planner "Hello"

The script can also fail, stall, stutter and break off; docs/models.md tells how.`,
  options: { script: { type: 'string' }, port: { type: 'string' }, host: { type: 'string' } },
  async run({ values, root, terminal, json }) {
    const named = text(values, 'script');
    const file = named ?? path.join(root, 'script.yaml');
    if (named !== undefined && !fs.existsSync(named))
      throw new ProblemError(problem('not_found', `there is no script ${named}`, { where: { file: named } }));
    const port = Number(text(values, 'port') ?? 8123);
    if (!Number.isInteger(port) || port < 0 || port > 65535)
      throw new ProblemError(problem('bad_usage', 'a port is a number from 0 to 65535'));
    const server = await serveScript({ ...(fs.existsSync(file) ? { file } : {}), port, host: text(values, 'host') });
    if (json) terminal.json({ url: server.url });
    else terminal.out(server.url);
    terminal.say(terminal.dim(`playing ${fs.existsSync(file) ? file : 'the built-in echo'} (Ctrl-C stops)`));
    await new Promise<void>((resolve) => onInterrupt(resolve));
    await server.close();
    return EXIT.done;
  },
};
