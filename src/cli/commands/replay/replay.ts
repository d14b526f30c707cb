/** `guild replay`: repeats a recorded run without a model, and shows the first difference. */
import fs from 'node:fs';
import path from 'node:path';
import { replayRun, type Replayed } from '../../../app/replay/replay-run.js';
import { problemError } from '../../../domain/problem.js';
import { counted, EXIT, text, type Call, type Command } from '../../args/command.js';
import { narrator } from '../../render/narrator.js';

export const command: Command = {
  usage: 'replay <cassette>',
  about: `
Repeats a recorded run in a new folder with the recorded answers, and compares every file with the recording. The exit code is
0 if all files are the same, and 1 at the first difference. No model is called and no command runs.

With --workspace DIR, all agents are taken from that workspace.`,
  options: {
    dir: { type: 'string', value: 'DIR', about: 'folder to use; must be empty or missing (default: a temporary one)' },
    keep: { type: 'boolean', about: 'keep the temporary folder' },
    with: {
      type: 'string',
      multiple: true,
      value: 'FILE=PATH',
      about: 'replace a file of the workspace, for example agents/planner.md=new-planner.md; may be repeated',
    },
    'continue-live': { type: 'boolean', about: 'at the first difference, continue with the real models and commands' },
  },
  maxWords: 1,
  async run(call) {
    const [file] = call.words;
    if (file === undefined)
      throw problemError('bad_usage', 'guild replay needs a cassette', { hint: 'guild record creates one' });
    const { cwd, env } = call.io;
    const dir = text(call.values, 'dir');
    const agentsFrom = text(call.values, 'workspace');
    const live = call.values['continue-live'] === true;
    const narration = call.json ? undefined : narrator(call);
    const replayed = await replayRun(path.resolve(cwd, file), {
      env,
      with: replacements(call.values['with'], cwd),
      watchers: narration,
      dir: dir && path.resolve(cwd, dir),
      agentsFrom: agentsFrom && path.resolve(cwd, agentsFrom),
      live,
    }).finally(() => narration?.close());
    const kept = dir !== undefined || call.values['keep'] === true || replayed.live;
    if (!kept) fs.rmSync(replayed.root, { recursive: true, force: true, maxRetries: 5 });
    return report(call, replayed, kept);
  },
};

function report({ terminal, json }: Call, { root, difference, live, calls, files }: Replayed, kept: boolean): number {
  if (json) terminal.json({ same: difference === undefined, difference, live, calls, folder: kept ? root : undefined });
  const where = kept ? `\nthe folder is ${root}` : '';
  if (difference === undefined) {
    if (!json)
      terminal.out(`same: ${files} files, ${counted(calls.replayed, 'model call')}, none of them repeated${where}`);
    return EXIT.done;
  }
  if (!json) terminal.out(difference.message);
  if (!json && difference.diff) terminal.out(difference.diff);
  terminal.say(`${counted(calls.replayed, 'model call')} before it ${calls.replayed === 1 ? 'was' : 'were'} the same`);
  if (live) terminal.say(`it continued with ${counted(calls.live, 'real call')}`);
  if (where) terminal.say(where.trim());
  return live ? EXIT.done : EXIT.problem;
}

function replacements(value: Call['values'][string], cwd: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const pair of Array.isArray(value) ? value.map(String) : []) {
    const at = pair.indexOf('=');
    if (at < 1)
      throw problemError('bad_usage', `--with takes FILE=PATH, not ${JSON.stringify(pair)}`, {
        hint: '--with agents/planner.md=new-planner.md',
      });
    files.set(path.posix.normalize(pair.slice(0, at)), path.resolve(cwd, pair.slice(at + 1)));
  }
  return files;
}
