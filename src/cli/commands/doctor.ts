/**
 * `guild doctor`: checks whether this machine and this folder can keep the promises of the program,
 * and with `--audit` whether it has kept them. `--adopt` releases tasks that nobody may take over.
 */
import { auditEffects } from '../../app/audit-effects.js';
import { adoptJournals, examine } from '../../app/doctor.js';
import { problemError } from '../../domain/problem.js';
import { EXIT, type Call, type Command } from '../args/command.js';
import { wrapped } from '../render/layout.js';

type Mark = 'good' | 'odd' | 'bad';

export const command: Command = {
  usage: [
    ['doctor', 'check this machine and this folder'],
    ['doctor --audit', 'compare reported effects with their records'],
    ['doctor --adopt [peer]', 'release tasks that are held because of a lost process'],
  ],
  about: `
Checks Node, Git, the sandbox for commands, the file system of the workspace (atomic renames, hard links, fsync, local disk),
model keys, and leftovers of lost processes. It creates a few test files and removes them again.

With --audit it compares the event log with the records of effects in .guild/run instead. Every effect that was
reported as done should have a record. Each effect without a record is printed with its task, call and time; the exit
code is then 1.

With --adopt it releases the tasks of a lost process. A journal that cannot be replayed goes to .guild/evidence with a note, and
its tasks continue from their files; without a peer, this applies to all such journals. If this machine cannot tell whether
a process has ended, for example one in another container, make sure that it has, and name it; the next process then replays its journal.`,
  options: {
    adopt: { type: 'boolean', about: 'release the tasks of a lost process' },
    audit: { type: 'boolean', about: 'compare reported effects with their records' },
  },
  maxWords: 1,
  async run(call) {
    const isAdopting = call.values['adopt'] === true;
    if (call.words.length > 0 && !isAdopting)
      throw problemError('bad_usage', 'only --adopt takes the name of a process');
    if (isAdopting) return adopt(call);
    if (call.values['audit'] === true) return audit(call);
    const { root, terminal, json, io } = call;
    const findings = await examine(root, io.env);
    if (json) terminal.json(findings);
    for (const { name, verdict, text } of json ? [] : findings) print(call, verdict, name, text);
    return findings.some((finding) => finding.verdict === 'bad') ? EXIT.problem : EXIT.done;
  },
};

async function adopt(call: Call): Promise<number> {
  const adopted = await adoptJournals(call.root, call.words[0]);
  if (call.json) call.terminal.json({ adopted });
  for (const { peer, why } of call.json ? [] : adopted) {
    const next = why === 'unreadable' ? 'its journal is in .guild/evidence' : 'the next process replays its journal';
    print(call, 'good', 'adopted', `${peer}: ${next}, and its tasks continue with the next guild pump, run or watch`);
  }
  if (adopted.length === 0 && !call.json) print(call, 'good', 'journals', 'all can be replayed');
  return EXIT.done;
}

async function audit(call: Call): Promise<number> {
  const found = await auditEffects(call.root);
  const { effects, unrecorded } = found;
  if (call.json) call.terminal.json(found);
  else {
    for (const { task, call: id, tool, agent, at } of unrecorded)
      print(
        call,
        'bad',
        'effect',
        `${at} ${tool} by ${agent} in ${task} (call ${id}) was reported as done and has no record`,
      );
    if (unrecorded.length === 0) print(call, 'good', 'effects', `${effects} reported as done, all with a record`);
    else
      print(
        call,
        'odd',
        'effects',
        `check by hand whether they happened; a copy without .guild/ has no records at all`,
      );
  }
  return unrecorded.length > 0 ? EXIT.problem : EXIT.done;
}

function print({ terminal }: Call, verdict: Mark, name: string, text: string): void {
  const mark = {
    good: terminal.colour('green', '✓'),
    odd: terminal.colour('yellow', '!'),
    bad: terminal.colour('red', '✗'),
  }[verdict];
  for (const line of wrapped(`${mark} ${name.padEnd(12)} ${text}`, terminal.width, ' '.repeat(15))) terminal.out(line);
}
