/** `guild replay`: a recorded run again, without any model; the first difference if there is one. */
import fs from 'node:fs';
import path from 'node:path';
import { replayRun, type Replayed } from '../../../app/replay/replay-run.js';
import { problem, ProblemError } from '../../../domain/problem.js';
import { counted, EXIT, text, type Call, type Command } from '../../args/command.js';
import { narrator } from '../../render/narrator.js';

export const command: Command = {
  help: `guild replay <cassette> [--dir DIR] [--keep] [--with FILE=PATH]… [--continue-live]

Lays the recorded files into a fresh folder, does the same steps with the recorded answers, and compares every file with what was
recorded: the same (exit 0), or the first difference (exit 1). No model is asked and no command is run.

  --dir DIR          where; must be empty or missing (default: a temporary folder)
  --keep             keep the temporary folder
  --with FILE=PATH   another file in place of one in the workspace, e.g. --with agents/planner.md=new-planner.md; may be repeated
  --workspace DIR    take all agents from the workspace in DIR
  --continue-live    at the first difference, go on with the real models and commands; what came before costs nothing`,
  options: {
    dir: { type: 'string' },
    keep: { type: 'boolean' },
    with: { type: 'string', multiple: true },
    'continue-live': { type: 'boolean' },
  },
  most: 1,
  async run(call) {
    const [file] = call.words;
    if (file === undefined)
      throw new ProblemError(problem('bad_usage', 'guild replay needs a cassette', { hint: 'guild record makes one' }));
    const { cwd, env } = call.io;
    const dir = text(call.values, 'dir');
    const agentsFrom = text(call.values, 'workspace');
    const live = call.values['continue-live'] === true;
    const replayed = await replayRun(path.resolve(cwd, file), {
      env,
      with: replacements(call.values['with'], cwd),
      ...(call.json ? {} : { watchers: narrator(call) }),
      ...(dir === undefined ? {} : { dir: path.resolve(cwd, dir) }),
      ...(agentsFrom === undefined ? {} : { agentsFrom: path.resolve(cwd, agentsFrom) }),
      ...(live ? { live } : {}),
    });
    const kept = dir !== undefined || call.values['keep'] === true || replayed.live;
    if (!kept) fs.rmSync(replayed.root, { recursive: true, force: true, maxRetries: 5 });
    return tell(call, replayed, kept);
  },
};

function tell({ terminal, json }: Call, { root, difference, live, calls, files }: Replayed, kept: boolean): number {
  if (json)
    terminal.json({ same: difference === undefined, difference, live, calls, ...(kept ? { folder: root } : {}) });
  const where = kept ? `\nthe folder is ${root}` : '';
  if (difference === undefined) {
    if (!json)
      terminal.out(`same: ${files} files, ${counted(calls.replayed, 'model call')}, none of them asked again${where}`);
    return EXIT.done;
  }
  if (!json) terminal.out(difference.message);
  if (!json && difference.diff) terminal.out(difference.diff);
  terminal.say(`${counted(calls.replayed, 'model call')} before it ${calls.replayed === 1 ? 'was' : 'were'} the same`);
  if (live) terminal.say(`it went on with ${calls.live} real ones`);
  if (where) terminal.say(where.trim());
  return live ? EXIT.done : EXIT.problem;
}

function replacements(given: Call['values'][string], cwd: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const one of Array.isArray(given) ? given.map(String) : []) {
    const at = one.indexOf('=');
    if (at < 1)
      throw new ProblemError(
        problem('bad_usage', `--with takes FILE=PATH, not ${JSON.stringify(one)}`, {
          hint: '--with agents/planner.md=new-planner.md',
        }),
      );
    found.set(path.posix.normalize(one.slice(0, at)), path.resolve(cwd, one.slice(at + 1)));
  }
  return found;
}
