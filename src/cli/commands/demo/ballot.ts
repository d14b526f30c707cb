/** The person in a demo, who answers at the prompt or edits the ballot. */
import fs from 'node:fs';
import path from 'node:path';
import type { Call } from '../../args/command.js';
import { askLine } from '../../process/ask.js';

export const BALLOT = 'tasks/approvals.task.md';

export function openEntries(root: string): number {
  const file = path.join(root, BALLOT);
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('- [_]').length - 1 : 0;
}

export async function answerBallot(root: string, call: Call): Promise<void> {
  const { terminal, values } = call;
  const file = path.join(root, BALLOT);
  terminal.say(`\n${terminal.colour('yellow', 'Waiting for your approval')} ${terminal.dim(BALLOT)}`);
  for (const line of entries(root)) terminal.say(`  ${line}`);
  const before = fs.readFileSync(file, 'utf8');
  const asks = values['yes'] !== true && call.io.stdin.isTTY;
  const answer = asks
    ? (await askLine(call.io, 'y to allow, n to refuse, or edit the file and press Enter: ')).trim().toLowerCase()
    : 'y';
  if (!asks) terminal.say(terminal.dim(`  ${values['yes'] === true ? '--yes' : 'no terminal'}: changing [_] to [x]`));
  if (answer !== 'y' && answer !== 'n') {
    if (fs.readFileSync(file, 'utf8') === before) await answerBallot(root, call);
    return;
  }
  fs.writeFileSync(file, before.replaceAll('- [_]', answer === 'y' ? '- [x]' : '- [-]'));
}

function entries(root: string): string[] {
  const lines = fs.readFileSync(path.join(root, BALLOT), 'utf8').split('\n');
  const from = lines.findIndex((line) => line.startsWith('- [_]'));
  return lines.slice(from).filter((line) => line.trim() !== '' && !FOR_PROGRAMS.test(line));
}

/** Lines of an entry that a reader of the story does not need. */
const FOR_PROGRAMS = /^ {2}(?:id|requesting_agent_session_id|approval_type|created|digest): |^<!--/;
