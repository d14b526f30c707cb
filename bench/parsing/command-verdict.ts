/**
 * The policy verdict on a 10 kB command line, in processor time, so that other work on the machine
 * does not count. The first verdicts of a process take ten times as long, while V8 compiles.
 * Baseline: copying the line character by character with a regular expression.
 */
import { commandGate } from '../../src/adapters/policy-files/index.js';
import { DEFAULT_POLICY } from '../../src/domain/policy.js';
import { atMost, median, figure, type Bench } from '../harness/rows.js';

const WARM_UPS = 60;
const LINES: Record<string, string> = {
  'words of a reading command': `cat ${'notes/file-with-a-name.txt '.repeat(370)}`,
  'a long pipeline': `ls ${'| grep -n "x y" '.repeat(600)}`,
  'a long list': 'git status; '.repeat(830),
  'a quoted text': `echo '${'lorem ipsum '.repeat(830)}'`,
  'words known only at run time': `echo ${'$a '.repeat(3300)}`,
  'many assignments': `${'A=b '.repeat(2450)}ls`,
  'operands of rm': `rm -rf ${'/a '.repeat(3300)}`,
  'process substitutions': `cat ${'<(ls) '.repeat(1660)}`,
  'assigned substitutions': 'A=$(ls); '.repeat(1110),
  'operands of find -exec': `find . -exec echo ${'{} '.repeat(3300)};`,
  'scripts of many shells': "sh -c 'ls'; ".repeat(830),
  'scripts of traps': "trap 'ls' 0; ".repeat(760),
  'scripts of ssh': "ssh h 'ls -l'; ".repeat(660),
  'downloads in a pipeline': 'curl a | '.repeat(1110),
  'scripts within scripts': nested("env -S '", "'", 'ls'),
  'nested substitutions': `${'$('.repeat(2000)}ls${')'.repeat(2000)}`,
};

/** Each level quotes the one below, which doubles its quotes. */
function nested(open: string, close: string, inside: string): string {
  const line = `${open}${inside.replaceAll("'", "'\\''")}${close}`;
  return line.length > 10_000 ? inside : nested(open, close, line);
}

export const commandVerdict: Bench = {
  name: 'gate',
  async run(testbed) {
    const gate = commandGate(DEFAULT_POLICY);
    const times = new Map<string, number[]>(Object.keys(LINES).map((name) => [name, []]));
    const raw: number[] = [];
    for (let round = 0; round < testbed.scale(100); round++) {
      for (const [name, line] of Object.entries(LINES)) {
        const ours = processorMs(() => gate.judge(line));
        const copied = processorMs(() => line.replace(/[\s\S]/g, (char) => char));
        if (round < WARM_UPS) continue;
        times.get(name)!.push(ours);
        raw.push(copied);
      }
    }
    const title = (name: string): string => `a verdict on 10 kB, processor time: ${name}`;
    const rows = [...times].map(([name, ms]) => atMost(title(name), median(ms), 'ms', 5));
    return [...rows, figure('… the same text through a regular expression', median(raw), 'ms')];
  },
};

function processorMs(work: () => void): number {
  const from = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}
