/**
 * `guild demo`: a day in a small office, played pass by pass in a new folder. By default the model
 * is a script; everything else is real: the files, the policy, the approvals, the history.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Workspace } from '../../../app/index.js';
import { packageFolder } from '../../../app/starter.js';
import { acceptTrust } from '../../../app/trust/trust.js';
import { problem, type Problem, ProblemError, problemError } from '../../../domain/problem.js';
import { EXIT, newFolder, text, type Call, type Command } from '../../args/command.js';
import { answerBallot, BALLOT, openEntries } from './ballot.js';
import { paceOf, playInWindow } from './in-window.js';
import { OFFICE_STEPS, QUESTION } from './steps.js';
import { STORIES, storyOf, type Story } from './stories.js';
import { askLine } from '../../process/ask.js';
import type { Io } from '../../process/io.js';
import { wrapped } from '../../render/layout.js';
import { narrator } from '../../render/narrator.js';
import { treeLines } from '../task/show.js';

const OUTBOX = 'inbox/slack-outbox.jsonl';

export const command: Command = {
  usage: 'demo',
  about: `
Plays a short story in a new folder. Sarah asks on Slack whether Redis is running; a planner, an executor and an evaluator find
out and answer. You decide twice: before a command runs, and before the reply goes out. Answer at the prompt, or edit
tasks/approvals.task.md. The model is a script, so no key and no network are needed.

With --ui it plays in your browser, slowly enough to watch, and you answer by clicking. --story swarm shows agents that bid
and a new agent being made; --story deadlock shows a cycle of waits being broken.

With --cluster three workers and a desk play it in four folders, with nothing between them but a PostgreSQL server that the
demo starts itself (or the one that GUILD_STORE names). One worker is killed while it works, and the others finish.`,
  options: {
    yes: { type: 'boolean', short: 'y', about: 'approve both requests without asking' },
    step: { type: 'boolean', about: 'wait for Enter before each pass' },
    ui: { type: 'boolean', about: 'play it in the browser' },
    cluster: { type: 'boolean', about: 'play it on three workers with PostgreSQL, and kill one' },
    story: { type: 'string', value: 'NAME', about: 'with --ui: office (default), swarm or deadlock' },
    pace: { type: 'string', value: 'SECONDS', about: 'with --ui: about how long a model call takes (default: 2.5)' },
    dir: {
      type: 'string',
      value: 'DIR',
      about: 'folder to use; must be empty or missing (default: a temporary one, which is kept)',
    },
    model: { type: 'string', value: 'NAME', about: 'a real model, for example openai/gpt-5; its key must be set' },
  },
  maxWords: 0,
  async run(call) {
    const { terminal, values } = call;
    const story = storyOf(text(values, 'story') ?? 'office');
    if (values['ui'] !== true && text(values, 'story') !== undefined)
      throw problemError('bad_usage', '--story is for --ui', { hint: 'guild demo --ui --story swarm' });
    if (values['cluster'] === true && (values['ui'] === true || text(values, 'model') !== undefined))
      throw problemError('bad_usage', '--cluster plays its own story: neither --ui nor --model goes with it', {
        hint: 'guild demo --cluster',
      });
    if (values['ui'] !== true && text(values, 'pace') !== undefined)
      throw problemError('bad_usage', '--pace is for --ui', { hint: 'guild demo --ui --pace 5' });
    const turnMs = paceOf(text(values, 'pace'));
    const folder = fresh(newFolder(values, text(values, 'dir'), '--dir'), story, call.io);
    if (values['cluster'] === true) return (await import('./cluster.js')).playOnCluster(call, folder);
    if (values['ui'] === true)
      return playInWindow(call, folder, {
        story,
        turnMs,
        begin: story === STORIES['office'] ? sarahWrites : () => undefined,
      });
    const model = text(values, 'model');
    fs.cpSync(packageFolder('examples', 'office'), folder, { recursive: true });
    // The folder is a copy of files that came with this program.
    acceptTrust(folder, call.io.env);
    terminal.say(
      model
        ? `${terminal.bold('A day in an office')}, played on ${model}.`
        : `${terminal.bold('A day in an office')}, played offline on a scripted model: no key, no network, no real intelligence.`,
    );
    terminal.say(terminal.dim(`The workspace is ${folder}\n`));
    sarahWrites(folder);
    terminal.say(
      `Sarah writes on Slack: ${terminal.bold(`“${QUESTION}”`)} ${terminal.dim('(inbox/slack-messages.jsonl)')}`,
    );
    const narration = narrator({ ...call, isStory: true });
    const workspace = await call.open(folder, {
      watchers: narration,
      modelName: model,
    });
    narration.know(workspace);
    try {
      if (await play(workspace, call, model === undefined)) return await showEnd(workspace, call);
      terminal.say(
        `\nThere is no terminal to ask at, so nothing was approved. The request is in ${path.join(folder, BALLOT)}. Run the demo on a terminal, or with --yes.`,
      );
      return EXIT.waiting;
    } finally {
      narration.close();
      await workspace.close();
    }
  },
};

/**
 * False if it stopped at a request because there was no person to answer. Requests of a real model
 * are never approved silently.
 */
async function play(workspace: Workspace, call: Call, isScripted: boolean): Promise<boolean> {
  const { terminal, values } = call;
  for (let pass = 1; ; pass++) {
    if (values['step'] === true) await askLine(call.io, `\nPress Enter for pass ${pass} `);
    const step = isScripted ? OFFICE_STEPS[pass - 1] : undefined;
    terminal.say(`\n${terminal.bold(`Pass ${pass}`)}${step ? ` · ${step}` : ''}`);
    const { moved } = await workspace.pump();
    if (moved) continue;
    terminal.say(terminal.dim('  nothing to do'));
    if (openEntries(workspace.root) === 0) return true;
    if (!isScripted && values['yes'] !== true && !call.io.stdin.isTTY) return false;
    await answerBallot(workspace.root, call);
  }
}

async function showEnd(workspace: Workspace, call: Call): Promise<number> {
  const { terminal, json } = call;
  const ended = await workspace.endedTasks();
  const root = ended.find(({ task }) => task.parent === undefined);
  if (root === undefined) throw problemError('bug', 'the story did not end');
  terminal.say(`\n${terminal.bold('The tasks')} ${terminal.dim(`guild task tree ${root.task.id}`)}`);
  for (const line of treeLines(await workspace.tree(root.task.id), call)) terminal.say(line);
  const outbox = outboxIn(workspace.root);
  terminal.say(`\n${terminal.bold('The reply')} ${terminal.dim(OUTBOX)}`);
  if (json)
    terminal.json({
      workspace: workspace.root,
      state: root.state,
      result: root.task.result,
      outbox,
    });
  else
    for (const { to, text } of outbox)
      for (const line of wrapped(`${to}: ${text}`, terminal.width, '  ')) terminal.out(line);
  if (outbox.length === 0) terminal.say('none');
  else if (!outbox.every(({ sent }) => sent === true))
    terminal.say(terminal.dim('It was not sent: no Slack token is set.'));
  terminal.say(`\n${root.task.result ?? root.task.error?.message ?? ''}`);
  terminal.say(terminal.dim(`\nTo look around: cd ${workspace.root}, then guild log, guild top, or cat ${BALLOT}`));
  return root.state === 'completed' ? EXIT.done : EXIT.problem;
}

function sarahWrites(root: string): void {
  const line = {
    id: 'slack-1001',
    timestamp: new Date().toISOString(),
    channel: 'slack',
    from: 'sarah',
    text: QUESTION,
  };
  fs.mkdirSync(path.join(root, 'inbox'), { recursive: true });
  fs.appendFileSync(path.join(root, 'inbox', 'slack-messages.jsonl'), `${JSON.stringify(line)}\n`);
}

interface Outgoing {
  to?: string;
  text?: string;
  sent?: boolean;
}

function outboxIn(root: string): Outgoing[] {
  const file = path.join(root, OUTBOX);
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as Outgoing);
}

function fresh(folderOption: string | undefined, { example }: Story, { cwd }: Io): string {
  if (folderOption === undefined) return fs.mkdtempSync(path.join(os.tmpdir(), `guild-${example}-`));
  const folder = path.resolve(cwd, folderOption);
  if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0) throw new ProblemError(notEmpty(folder));
  return folder;
}

function notEmpty(folder: string): Problem {
  return problem('bad_usage', `${folder} is not empty`, { hint: 'name a folder that does not exist yet' });
}
