/** A model script behind HTTP; the script is read again on each call, so an edit counts at once. */
import fs from 'node:fs';
import { clock } from '../adapters/clock/index.js';
import { serveModel, type ModelServer } from '../adapters/models/server/index.js';
import { models } from '../adapters/models/index.js';

/** What is played when there is no script: it says back what it was told. */
const ECHO = '- say: "You said: {{last}}"\n';

export async function serveScript(given: {
  file?: string;
  port: number;
  host?: string | undefined;
}): Promise<ModelServer> {
  const readFile = (): string => (given.file === undefined ? ECHO : fs.readFileSync(given.file, 'utf8'));
  const play = models({
    config: {
      providers: { play: { kind: 'scripted', script: given.file ?? 'echo' } },
      prices: {},
      timeouts: { callMs: 0, stallMs: 0, tries: 1 },
    },
    env: {},
    clock: clock(),
    readFile,
  });
  const model = { call: (request: Parameters<typeof play.call>[0]) => play.call({ ...request, model: 'play/script' }) };
  return serveModel({ model, port: given.port, ...(given.host ? { host: given.host } : {}) });
}
