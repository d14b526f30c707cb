/** `guild lint`: errors and warnings in boards, with `file:line:column`. */
import fs from 'node:fs';
import path from 'node:path';
import { lintFile } from '../../app/readers/queries.js';
import { problemError, problemText } from '../../domain/problem.js';
import { type Call, type Command, EXIT } from '../args/command.js';

export const command: Command = {
  usage: 'lint <file.task.md>…',
  about: `
Checks boards. An entry with an error is ignored until it is fixed; the other entries still work. Warnings have no effect. The
exit code is 1 if there are errors.`,
  run: lint,
};

export async function lint(call: Call): Promise<number> {
  if (call.words.length === 0) {
    throw problemError('bad_usage', 'guild lint needs a file', { hint: 'guild lint tasks/plan.task.md' });
  }
  const results = call.words.map((file) => ({ file, problems: lintFile(placed(file, call), call.root) }));
  const errors = results.flatMap(({ problems }) => problems.filter((each) => each.severity === 'error')).length;
  if (call.json) call.terminal.json(results.length === 1 ? results[0] : results);
  else {
    for (const { file, problems } of results) {
      for (const each of problems) call.terminal.out(`${each.severity}: ${problemText(each)}`);
      if (problems.length === 0) call.terminal.say(`${file}: no problems`);
    }
  }
  return errors > 0 ? EXIT.problem : EXIT.done;
}

/** Names are relative to the workspace; if there is no such file, to the current folder. */
function placed(file: string, { root, io }: Call): string {
  const near = path.resolve(io.cwd, file);
  return fs.existsSync(path.resolve(root, file)) || !fs.existsSync(near) ? file : near;
}
