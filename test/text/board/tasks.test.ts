/** Which fields of a bullet become the context of its task. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROGRAM_KEYS } from '../../../src/domain/task/task.js';
import { parseBoard } from '../../../src/text/board/parse.js';
import { boardTasks } from '../../../src/text/board/tasks.js';

test("a bullet's own fields are context, and the program's keys are not", () => {
  const fields = ['ticket', 'approval_required', ...PROGRAM_KEYS].map((key) => `  ${key}: yes\n`).join('');
  const text = `## TODO\n- [ ] @ana "Look" id: look\n${fields}`;
  const { wanted } = boardTasks([{ board: parseBoard(text, 'plan.task.md'), text }], new Set(['ana']));
  assert.deepEqual(
    wanted.map(({ task }) => Object.keys(task.context)),
    [['original_goal', 'ticket', 'approval_required']],
  );
});
