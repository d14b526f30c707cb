/**
 * Keeps the replies of models for another run of the same case. A reply belongs to the nth call of
 * an agent: requests differ from run to run by ids and times, so they cannot be compared.
 */
import fs from 'node:fs';
import path from 'node:path';
import { problemError } from '../../domain/problem.js';
import type { Model, ModelReply } from '../../ports/model.js';

interface Kept {
  agent: string;
  call: number;
  reply: ModelReply;
}

/** Writes each reply as a line of the file. */
export function recording(model: Model, file: string): Model {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  // A link that came with the folder is replaced, not followed.
  fs.rmSync(file, { force: true });
  fs.writeFileSync(file, '', { mode: 0o600, flag: 'wx' });
  const calls = new Map<string, number>();
  return {
    async call(request) {
      const call = (calls.get(request.agent) ?? 0) + 1;
      calls.set(request.agent, call);
      const reply = await model.call(request);
      const kept: Kept = { agent: request.agent, call, reply };
      fs.appendFileSync(file, `${JSON.stringify(kept)}\n`);
      return reply;
    },
  };
}

/**
 * Answers from the file. A call that was not recorded fails like a call to a missing model. Only a
 * regular file counts as a recording: a link could lead to any file of the user.
 */
export function replaying(file: string): Model {
  if (fs.lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw problemError('not_found', `there is no recording ${file}`, {
      hint: 'make one with guild eval --record FOLDER',
    });
  const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const kept = new Map(
    lines.map((line) => JSON.parse(line) as Kept).map((each) => [`${each.agent} ${each.call}`, each]),
  );
  const calls = new Map<string, number>();
  return {
    async call({ agent }) {
      const call = (calls.get(agent) ?? 0) + 1;
      calls.set(agent, call);
      const message = `the recording has no call ${call} of ${agent}; record the case again`;
      return kept.get(`${agent} ${call}`)?.reply ?? { ok: false, failure: { class: 'refused', message } };
    },
  };
}
