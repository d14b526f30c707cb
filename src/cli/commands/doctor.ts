/**
 * `guild doctor`: checks whether this machine and this folder can keep the promises of the program.
 */
import { examine } from '../../app/doctor.js';
import { EXIT, type Command } from '../args/command.js';
import { wrapped } from '../render/layout.js';

export const command: Command = {
  usage: 'doctor',
  about: `
Checks Node, Git, the sandbox for commands, the file system of the workspace (atomic renames, hard links, fsync, local disk),
model keys, and leftovers of lost processes. It creates a few test files and removes them again.`,
  maxWords: 0,
  async run({ root, terminal, json, io }) {
    const findings = await examine(root, io.env);
    if (json) terminal.json(findings);
    for (const { name, verdict, text } of json ? [] : findings) {
      const mark = {
        good: terminal.colour('green', '✓'),
        odd: terminal.colour('yellow', '!'),
        bad: terminal.colour('red', '✗'),
      }[verdict];
      for (const line of wrapped(`${mark} ${name.padEnd(12)} ${text}`, terminal.width, ' '.repeat(15)))
        terminal.out(line);
    }
    return findings.some((finding) => finding.verdict === 'bad') ? EXIT.problem : EXIT.done;
  },
};
