/**
 * Guildhall as a library: the same reads and the same intents as the command line. Run it from the root of the repository, after
 * `npm run build`: node examples/library/index.mjs
 */
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openWorkspace, ProblemError, problemText } from 'guildhall';

// A workspace is a folder. This one is copied, so that the example can be run again.
const folder = await mkdtemp(join(tmpdir(), 'guild-library-'));
await cp(fileURLToPath(new URL('.', import.meta.url)), folder, { recursive: true });

const workspace = await openWorkspace(folder, {
  // Called while work goes on; `text` gets the answer as it is streamed.
  watchers: {
    event: (event) => console.log(`  ${event.name} ${event.task ?? ''} ${event.agent ?? ''}`.trimEnd()),
    problem: (problem) => console.error(problemText(problem)),
  },
});

try {
  // 1. One question, worked on here until it has its answer.
  console.log('One question');
  const { state, task } = await workspace.run('writer', 'Write the release notes of 1.5');
  console.log(`\n${state}: ${task.result?.trim()}\n`);

  // 2. The tree of tasks behind it, each with its cost.
  console.log('What it took');
  for (const { task: one } of await workspace.tree(task.id))
    console.log(`  ${'  '.repeat(one.depth)}${one.to}: ${one.usage?.turns} turns`);

  // 3. Tasks that depend on each other are added first and worked on later, here or in any `guild watch`.
  console.log('\nTwo tasks');
  const notes = await workspace.add({ id: 'notes', description: 'Write the release notes of 1.5' });
  await workspace.add({
    id: 'check',
    description: 'What has changed since 1.4?',
    to: 'reader',
    dependencies: [notes.id],
  });
  await workspace.pumpUntilQuiet();
  for (const { task: ended, state: at } of await workspace.endedTasks({ limit: 10 }))
    console.log(`  ${at} ${ended.id}`);
  console.log(`\nresults/notes.md\n${await readFile(join(folder, 'results', 'notes.md'), 'utf8')}`);

  // 4. A failure is a Problem: a code for programs, a sentence for people.
  await workspace.add({ id: 'notes', description: 'Again' }).catch((error) => {
    if (!(error instanceof ProblemError)) throw error;
    console.log(`${error.problem.code}: ${problemText(error.problem)}`);
  });
} finally {
  await workspace.close();
  await rm(folder, { recursive: true });
}
