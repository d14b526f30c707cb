/** `guild record`: runs another command and records it on a cassette. */
import fs from 'node:fs';
import path from 'node:path';
import { recordAtDesk, type DeskRecording } from '../../../app/replay/record-at-desk.js';
import { recordRun, type Recorded } from '../../../app/replay/record-run.js';
import { replayRun } from '../../../app/replay/replay-run.js';
import { problem, problemError } from '../../../domain/problem.js';
import { counted, EXIT, type Call, type Command } from '../../args/command.js';
import { VERSION } from '../../args/version.js';

/** Commands that work on tasks. */
const RECORDED = ['run', 'pump', 'watch', 'demo'];

export const command: Command = {
  usage: 'record <cassette> <command>…',
  about: `
Runs another command (run, pump, watch or demo) and records the whole run in one file: the files at the start, the answers of
models, commands and plugins, what people changed meanwhile, and when. guild replay plays it again without any of them.

  guild record first.jsonl run planner "What should we do first?"
  guild record office.jsonl -- demo --yes

A cassette contains the workspace and all conversations. Secrets (.env*, secrets/, keys) are left out; a secret that an agent
has read is in its conversation. During a recording the tasks of a pass run one after the other, and no history is committed.

Where the work is in PostgreSQL, only run can be recorded, in the folder of guild sync --history. The run takes place in a copy of
that folder, and the store gets its tasks when it is over; until then nobody else sees them.`,
  options: { 'no-check': { type: 'boolean', about: 'do not replay the cassette afterwards to verify it' } },
  takesCommand: true,
  maxWords: 1,
  async run(call) {
    const [named] = call.words;
    const words = call.inner?.words ?? [];
    if (named === undefined || words[0] === undefined)
      throw problemError('bad_usage', 'guild record needs a cassette and a command', {
        hint: 'guild record first.jsonl run planner "…"',
      });
    if (!RECORDED.includes(words[0]))
      throw problemError('bad_usage', `guild ${words[0]} cannot be recorded`, {
        hint: `these can: ${RECORDED.join(', ')}`,
      });
    const file = path.resolve(call.io.cwd, named);
    const recording = recordRun({ file, command: words, version: VERSION });
    const desk = words[0] === 'run' ? await recordAtDesk(call.root, call.io.env) : undefined;
    const code = await call.inner!.run(recording.open, desk?.folder);
    const recorded = recording.finish();
    if (desk !== undefined) await giveToStore(call, desk);
    if (recorded === undefined) {
      call.terminal.say(`nothing happened, so ${named} was not written`);
      return code;
    }
    report(call, named, recorded);
    if (call.values['no-check'] === true) return code;
    return (await isSame(call, named)) ? code : EXIT.problem;
  },
};

async function giveToStore({ terminal }: Call, desk: DeskRecording): Promise<void> {
  try {
    const { tasks, beside } = await desk.deliver();
    if (tasks > 0) terminal.say(terminal.dim(`\n${counted(tasks, 'task')} of the recording copied into the store`));
    for (const file of beside) terminal.say(`${file}: the recorded version; others changed the note meanwhile`);
  } finally {
    const kept = desk.remove();
    if (kept !== undefined) terminal.say(`${kept} has files of the recording that are nowhere else`);
  }
}

function report({ terminal, json }: Call, file: string, { passes, calls, leftOut }: Recorded): void {
  if (json) terminal.json({ cassette: file, passes, calls, leftOut });
  terminal.say(terminal.dim(`\n${file}: ${counted(passes, 'pass', 'passes')}, ${counted(calls, 'model call')}`));
  for (const left of leftOut) terminal.say(terminal.dim(`  left out: ${left.file} (${left.why})`));
}

/** Replays it at once: a difference is reported while the run can still be recorded again. */
async function isSame({ terminal, io }: Call, file: string): Promise<boolean> {
  const { root, difference, files } = await replayRun(path.resolve(io.cwd, file));
  fs.rmSync(root, { recursive: true, force: true });
  if (difference === undefined) {
    terminal.say(
      terminal.dim(`replayed without a model, with the same ${files} files; guild replay ${file} repeats it`),
    );
    return true;
  }
  const { agent, task, message } = difference;
  terminal.problem(
    problem('tool_failed', `it does not replay exactly: ${message}`, {
      where: { file },
      hint: `${agent ? `look at ${agent} in task ${task}; ` : ''}record it again while no other program changes the workspace`,
    }),
  );
  return false;
}
