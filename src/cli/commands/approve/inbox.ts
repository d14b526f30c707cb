/** `guild inbox`: goes through everything that waits for the person. */
import { openDesk } from '../../../app/approvals.js';
import { noticesSince } from '../../../app/readers/log/notices.js';
import { shownArgument } from '../../../domain/progress.js';
import { localTime } from '../../../views/local-time.js';
import { EXIT, type Call, type Command } from '../../args/command.js';
import { canAsk, carryOnReleased } from '../../console/carry-on.js';
import { openKeyboard } from '../../console/keyboard.js';
import { walk, type Walked } from '../../console/walk.js';
import { oneLine } from '../../render/layout.js';
import { command as mail } from '../mail.js';
import { foreignText, list } from './list.js';

export const command: Command = {
  usage: 'inbox',
  about: `
Shows each request that waits for you: what it is, who asks and why, the exact action, the changes, how it is confined, and
which outside text influenced it. y allows it, n refuses it with a reason, e opens your editor, a allows this command
always, s skips it, ? shows details. A question is answered with words or one of its choices.

After an answer the released work continues here until it ends or waits again, unless another process works in this folder.

At the end it lists actions of the last 24 hours that ran without asking and that the policy wants you to know about (the verdict
notify).

In a pipe it prints the requests, and the exit code is 4 if there are any. guild mail adds and lists messages from outside;
guild inbox add and guild inbox list still work.`,
  options: mail.options,
  run(call) {
    const [word] = call.words;
    if (word !== undefined || Object.keys(mail.options ?? {}).some((name) => call.values[name] !== undefined)) {
      call.terminal.say(call.terminal.dim(`guild inbox ${word ?? 'add'} is now called guild mail ${word ?? 'add'}`));
      return mail.run(call);
    }
    return goThrough(call);
  },
};

/** Asks on a terminal; elsewhere it lists. */
export async function goThrough(call: Call): Promise<number> {
  if (!canAsk(call)) {
    const desk = await openDesk(call.root, call.io.env);
    try {
      const code = list(desk, call);
      if (!call.json) await showNotices(call);
      return code;
    } finally {
      await desk.close();
    }
  }
  const skipped = new Set<string>();
  for (let round = 0; ; round++) {
    const { answered, left, waiting, foreign } = await ask(call, skipped);
    await carryOnReleased(call, answered, !left);
    if (answered.length > 0 && !left) continue;
    if (foreign > 0) call.terminal.say(foreignText(foreign));
    else if (round === 0 && waiting === 0) call.terminal.say('nothing waits for you');
    if (waiting > 0) call.terminal.say(`${waiting} still ${waiting === 1 ? 'waits' : 'wait'} for you: guild inbox`);
    await showNotices(call);
    return waiting + foreign > 0 ? EXIT.waiting : EXIT.done;
  }
}

const NOTICE_MS = 24 * 60 * 60_000;

/** Shows actions that are already done, so nothing is asked. */
async function showNotices({ root, terminal }: Call): Promise<void> {
  const notices = await noticesSince(root, new Date(Date.now() - NOTICE_MS));
  if (notices.length === 0) return;
  terminal.say('');
  terminal.say('Done without asking you in the last 24 hours:');
  for (const { at, agent, tool, action, why } of notices) {
    const reason = why.length === 0 ? '' : ` (${why.join('; ')})`;
    terminal.say(oneLine(`  ${localTime(at)}  ${agent}  ${tool} ${shownArgument(action)}${reason}`, terminal.width));
  }
}

async function ask(call: Call, skipped: Set<string>): Promise<Walked & { waiting: number; foreign: number }> {
  const { io, terminal } = call;
  const desk = await openDesk(call.root, call.io.env);
  const keyboard = openKeyboard(io.stdin, io.stderr);
  try {
    const walked = await walk(desk, { io, terminal, keyboard }, ({ id }) => !skipped.has(id));
    const waiting = (await desk.look()).filter(({ id }) => !walked.answeredIds.has(id));
    for (const { id } of waiting) skipped.add(id);
    return { ...walked, waiting: waiting.length, foreign: desk.foreign() };
  } finally {
    keyboard.close();
    await desk.close();
  }
}
