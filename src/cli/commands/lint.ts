/** `guild lint`: errors and warnings in boards, with `file:line:column`. */
import fs from 'node:fs';
import path from 'node:path';
import { lintFile } from '../../app/readers/queries.js';
import { ProblemError, problem, problemText } from '../../domain/problem.js';
import { type Call, type Command, EXIT } from '../args/command.js';

export const command: Command = {
  usage: 'lint <file.task.md>…',
  about: `
Checks boards. An entry with an error is ignored until it is fixed; the other entries still work. Warnings change nothing. The
exit code is 1 if there are errors.`,
  run: lint,
};

export async function lint(call: Call): Promise<number> {
  if (call.words.length === 0) {
    throw new ProblemError(problem('bad_usage', 'guild lint needs a file', { hint: 'guild lint tasks/plan.task.md' }));
  }
  const found = call.words.map((file) => ({ file, problems: lintFile(placed(file, call), call.root) }));
  const errors = found.flatMap(({ problems }) => problems.filter((each) => each.severity === 'error')).length;
  if (call.json) call.terminal.json(found.length === 1 ? found[0] : found);
  else {
    for (const { file, problems } of found) {
      for (const each of problems) call.terminal.out(`${each.severity}: ${problemText(each)}`);
      if (problems.length === 0) call.terminal.say(`${file}: no problems`);
    }
  }
  return errors > 0 ? EXIT.problem : EXIT.done;
}

/** Names start from the workspace; if there is no such file, from the current folder. */
function placed(file: string, { root, io }: Call): string {
  const near = path.resolve(io.cwd, file);
  return fs.existsSync(path.resolve(root, file)) || !fs.existsSync(near) ? file : near;
}
