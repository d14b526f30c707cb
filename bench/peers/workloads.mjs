/** The texts of ../variants/workloads.ts, for subjects that run outside of this checkout. */
import * as fs from 'node:fs';
import * as path from 'node:path';

export const READER = { system: 'You answer from files.', request: 'Which runtime do we use?' };
export const ADVISOR = { system: 'You advise.', request: 'Do we upgrade?' };
export const BOSS = { system: 'You decide.' };
export const STAGE = { system: 'You go on.' };
export const ADVISORS = 8;
export const STAGES = 5;
export const TOOL = { name: 'read_file', description: 'Reads a file of the workspace.' };

/** Puts the file into the folder and returns what the tool does. */
export function reader(folder) {
  const file = path.join(folder, 'facts.md');
  const keep = 'It is started by the unit that the operators keep. ';
  fs.writeFileSync(file, `The runtime is podman. ${keep.repeat(7)}\n`);
  return () => fs.promises.readFile(file, 'utf8');
}

/** The three workloads, for a framework that asks one agent at a time. */
export function workloads({ read, ask }) {
  return {
    w1: () => read(READER.request),
    async w2() {
      const advisors = Array.from({ length: ADVISORS }, (_, n) => ask(`advisor-${n}`, ADVISOR.system, ADVISOR.request));
      const advice = await Promise.all(advisors);
      return ask('boss', BOSS.system, [...advice, ADVISOR.request].join('\n\n'));
    },
    async w3() {
      let answer = '';
      for (let n = 1; n <= STAGES; n++)
        answer = await ask(`stage-${n}`, STAGE.system, [answer, ADVISOR.request].filter(Boolean).join('\n\n'));
      return answer;
    },
  };
}
