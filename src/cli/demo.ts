/** `guild demo`: the first day of a small team, played pass by pass in a fresh folder, offline, and saying so. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openWorkspace } from '../app/index.js';
import { packageFolder } from '../app/init-workspace.js';
import { problem, ProblemError, type Problem } from '../domain/problem.js';
import { EXIT, text, type Command } from './command.js';
import { narrator } from './narrator.js';
import { treeLines } from './task-show.js';

export const command: Command = {
  help: `guild demo [--dir DIR] [--step]

Plays a first day in a fresh copy of examples/first-day (default: a temporary folder that is kept for you to look at):
Sarah asks whether Redis is running; the planner asks the retriever and the evaluator, and answers. No key, no network:
the model is a script, and everything else is real.

  --dir DIR   where to play; must be empty or missing
  --step      wait for Enter before each pass`,
  options: { dir: { type: 'string' }, step: { type: 'boolean' } },
  most: 0,
  async run(call) {
    const { terminal, values } = call;
    const folder = fresh(text(values, 'dir'));
    fs.cpSync(packageFolder('examples', 'first-day'), folder, { recursive: true });
    terminal.say(
      `${terminal.bold('A first day')}, played offline on a scripted model: no key, no network, no real intelligence.`,
    );
    terminal.say(terminal.dim(`The workspace is ${folder}\n`));
    const tell = narrator(call);
    const workspace = await openWorkspace(folder, { watchers: tell });
    try {
      const [first] = await workspace.openTasks();
      terminal.say(
        `Somebody dropped ${terminal.bold(`tasks/pending/${first!.task.id}.json`)}: “${first!.task.description}”`,
      );
      for (let pass = 1; ; pass++) {
        if (values['step'] === true) await enter(`\nEnter for pass ${pass}`);
        terminal.say(`\n${terminal.bold(`Pass ${pass}`)} ${terminal.dim('guild pump')}`);
        const { moved } = await workspace.pump();
        if (moved) continue;
        terminal.say(terminal.dim('  nothing moves any more'));
        break;
      }
      const end = (await workspace.task(first!.task.id))!;
      terminal.say(`\n${terminal.bold('What became of it')} ${terminal.dim(`guild task tree ${end.task.id}`)}`);
      for (const line of treeLines(await workspace.tree(end.task.id), call)) terminal.say(line);
      terminal.say(`\n${terminal.bold(`results/${end.task.id}.md`)}\n`);
      if (call.json) terminal.json({ workspace: folder, state: end.state, result: end.task.result });
      else terminal.out(end.task.result ?? end.task.error?.message ?? '');
      terminal.say(terminal.dim(`\nLook around: ls -R ${folder}`));
      return end.state === 'completed' ? EXIT.done : EXIT.problem;
    } finally {
      await workspace.close();
    }
  },
};

function fresh(named: string | undefined): string {
  if (named === undefined) return fs.mkdtempSync(path.join(os.tmpdir(), 'guild-first-day-'));
  const folder = path.resolve(named);
  if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0) throw new ProblemError(notEmpty(folder));
  return folder;
}

async function enter(prompt: string): Promise<void> {
  process.stderr.write(prompt);
  await new Promise<void>((resolve) => process.stdin.once('data', () => resolve()));
  process.stdin.pause();
}

function notEmpty(folder: string): Problem {
  return problem('bad_usage', `${folder} is not empty`, { hint: 'name a folder that does not exist yet' });
}
