/** Serves a model script over HTTP. The script is read on each call, so an edit applies at once. */
import fs from 'node:fs';
import path from 'node:path';
import { clock } from '../adapters/clock/index.js';
import { quirksOf, standIns, type ModelServer, type StandInName } from '../adapters/models/stand-ins/index.js';
import { models } from '../adapters/models/index.js';
import { defined } from '../domain/defined.js';

export { STAND_IN_NAMES, type StandInName } from '../adapters/models/stand-ins/index.js';

/** The default script repeats the last message. */
const ECHO = '- say: "You said: {{last}}"\n';

export async function serveScript(options: {
  file?: string;
  port: number;
  host?: string | undefined;
  /** Plays a provider with its rules instead of a plain OpenAI-compatible server. */
  as?: StandInName | undefined;
  /** A known quirk of that provider; see `quirkNames`. */
  quirk?: string | undefined;
}): Promise<ModelServer> {
  const readFile = (): string => (options.file === undefined ? ECHO : fs.readFileSync(options.file, 'utf8'));
  const play = models({
    config: {
      providers: { play: { kind: 'scripted', script: path.basename(options.file ?? 'echo') } },
      prices: {},
      timeouts: { callMs: 0, stallMs: 0, tries: 1 },
    },
    env: {},
    clock: clock(),
    readFile,
  });
  const model = { call: (request: Parameters<typeof play.call>[0]) => play.call({ ...request, model: 'play/script' }) };
  const address = defined({ port: options.port, host: options.host || undefined });
  return standIns({ as: options.as, model, ...address, quirk: options.quirk || undefined });
}

/** The quirks that a stand-in can show, each with its effect. */
export async function quirkNames(as: StandInName): Promise<{ name: string; says: string }[]> {
  return Object.entries(await quirksOf(as)).map(([name, { says }]) => ({ name, says }));
}
