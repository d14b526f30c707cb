/** `guild eval`: the shipped cases pass, and a team that works badly fails the right cases. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { STAND_IN_NAMES } from '../../src/adapters/models/stand-ins/index.js';
import { unmet, type EvalCase, type EvalRun } from '../../src/domain/eval/eval-case.js';
import { readCases } from '../../src/app/eval/read-cases.js';
import { runCases } from '../../src/app/eval/run-cases.js';
import { environment, place, ROOT, succeeds, type Place } from '../kit/guild.js';
import { sampleOf, sampleTests } from '../kit/sample.js';
import { trust } from '../kit/trust/state.js';

const test = sampleTests('app/eval', 3);

const SHIPPED = readCases(ROOT, 'starter/evals');

async function starter(t: TestContext): Promise<Place> {
  const workspace = place(t);
  succeeds(await workspace.guild('init', '.'));
  return workspace;
}

function offline(
  root: string,
  cases: readonly EvalCase[],
  as: (typeof STAND_IN_NAMES)[number],
): ReturnType<typeof runCases> {
  const env = environment(root);
  return runCases(cases, { root, env, times: 1, parallel: 2, approves: true, offline: as });
}

test('the starter has thirty-two cases that can be read', () => {
  assert.deepEqual(SHIPPED.problems, []);
  assert.equal(SHIPPED.cases.length, 32);
  assert.ok(SHIPPED.cases.every(({ script }) => script !== undefined));
});

for (const as of STAND_IN_NAMES)
  test(`the shipped cases pass when they are played on a stand-in of ${as}`, async (t) => {
    const cases = sampleOf(`eval ${as}`, SHIPPED.cases, 10);
    const { root } = await starter(t);
    for (const { id, passed, runs, problem } of await offline(root, cases, as))
      assert.ok(passed === 1, `${id}: ${problem ?? runs[0]?.unmet.join('; ')}`);
  });

/** A case of the starter whose script does something else. */
function sabotaged(about: RegExp, from: RegExp, to: string): EvalCase {
  const found = SHIPPED.cases.find((each) => about.test(each.about))!;
  const script = found.script!.replace(from, to);
  assert.notEqual(script, found.script);
  return { ...found, script };
}

test('a team that uses the wrong tool, reports falsely or leaves a file out fails the cases meant for it', async (t) => {
  const { root } = await starter(t);
  const cases = [
    sabotaged(/writes the file that was asked/, /numbers\.txt","content"/, 'other.txt","content"'),
    sabotaged(/reports that it failed/, /"success":false/, '"success":true'),
    sabotaged(/finds a fact/, /6543/, '5432'),
    sabotaged(/answers a small question itself/, /final_report":\{"report":"51"/, 'read_file":{"path":"memory/x.md"'),
  ];
  const results = await offline(root, cases, 'anthropic');
  assert.deepEqual(
    results.map(({ passed }) => passed),
    [0, 0, 0, 0],
  );
  assert.match(results[0]!.runs[0]!.unmet.join(), /numbers\.txt is missing/);
  assert.match(results[1]!.runs[0]!.unmet.join(), /completed, not failed/);
  assert.match(results[2]!.runs[0]!.unmet.join(), /lacks "6543"/);
});

test('a team whose executor has lost its tool for writing fails the cases that need a file', async (t) => {
  const workspace = await starter(t);
  const file = 'agents/executor.md';
  workspace.put(file, workspace.read(file).replace(' write_file,', ''));
  const cases = SHIPPED.cases.filter(({ to }) => to === 'executor');
  const failed = (await offline(workspace.root, cases, 'anthropic')).filter(({ passed }) => passed === 0);
  const unmetBy = failed.map(({ runs }) => runs[0]!.unmet.join('; '));
  assert.equal(failed.length, 3);
  assert.match(unmetBy.join('\n'), /numbers\.txt is missing/);
  assert.ok(failed.length < cases.length, 'the others pass');
});

test('a run happens in a copy: the workspace has no task, file or event of it', async (t) => {
  const workspace = await starter(t);
  const before = fs.readdirSync(workspace.root).sort();
  await offline(workspace.root, [SHIPPED.cases.find(({ about }) => /writes the file/.test(about))!], 'google');
  assert.deepEqual(fs.readdirSync(workspace.root).sort(), before);
});

test('a team that works in a shared store is evaluated without the store', async (t) => {
  const workspace = await starter(t);
  workspace.put('guild.yaml', `${workspace.read('guild.yaml')}store: postgres://nobody@127.0.0.1:1/none\n`);
  trust(workspace.root, environment(workspace.root));
  const found = SHIPPED.cases.find(({ about }) => /writes the file/.test(about))!;
  const [outcome] = await offline(workspace.root, [found], 'google');
  assert.equal(outcome!.passed, 1, outcome!.problem ?? outcome!.runs[0]?.unmet.join('; '));
});

test('a case says yes to requests only if the person has agreed to that', async (t) => {
  const workspace = await starter(t);
  const { code, out } = await workspace.guild('eval', '--offline', '--only', 'runs after the yes');
  assert.equal(code, 1);
  assert.match(out, /--approve-requests/);
  succeeds(await workspace.guild('eval', '--offline', '--only', 'runs after the yes', '--approve-requests'));
});

test('a question is not answered, not even if the case says yes to everything', async (t) => {
  const { root, put } = await starter(t);
  put('agents/asker.md', '---\ndescription: Asks\ntools: [ask_human]\n---\nAsk.\n');
  const ask = 'ask_human: {question: "Which version?", choices: ["1.0", "1.1"], default: "1.0"}';
  const script = `- {agent: asker, turn: 1, call: [{${ask}}]}\n- {agent: asker, say: "It is {{last}}"}\n`;
  const found = SHIPPED.cases.find(({ approve }) => approve === 'all') ?? SHIPPED.cases[0]!;
  const [outcome] = await offline(
    root,
    [{ ...found, task: 'Release', to: 'asker', approve: 'all', script }],
    'anthropic',
  );
  assert.deepEqual(
    outcome!.runs.map(({ state, asks }) => [state, asks]),
    [['waiting', ['ask_human']]],
  );
});

test('recorded replies give the same outcome without a model', async (t) => {
  const workspace = await starter(t);
  const script = path.join(workspace.root, 'play.yaml');
  fs.writeFileSync(script, '- say: The port is 6543, see staging.md.\n');
  workspace.put('guild.yaml', 'model: s/x\nproviders: { s: { kind: scripted, script: play.yaml } }\n');
  workspace.put('agents/clerk.md', '---\ndescription: Answers\n---\nYou answer.\n');
  workspace.put('mine.yaml', '- {task: Which port?, to: clerk, expect: {result: "6543", turns: 2}}\n');
  succeeds(await workspace.guild('eval', 'mine.yaml', '--record', 'kept'));
  fs.writeFileSync(script, '- say: I do not know.\n');
  const live = await workspace.guild('eval', 'mine.yaml');
  assert.equal(live.code, 1);
  assert.match(live.out, /the result lacks "6543"/);
  const { out } = succeeds(await workspace.guild('eval', 'mine.yaml', '--replay', 'kept', '--json'));
  assert.equal((JSON.parse(out) as { passed: boolean }).passed, true);
});

test('a case to which no model answered fails with the reason, even if it expects a failure', async (t) => {
  const workspace = await starter(t);
  workspace.put(
    'mine.yaml',
    '- {task: Which port?, to: retriever, expect: {state: failed}}\n- {task: Which host?, to: retriever, expect: {result: db}}\n',
  );
  const { code, out } = await workspace.guild('eval', 'mine.yaml');
  assert.equal(code, 1);
  assert.equal(out.match(/✗ mine\.yaml:\d: OPENAI_API_KEY is not set/g)?.length, 2);
  assert.match(out, /0 of 2 cases passed/);
});

test('a wrong case file is reported with its place, and nothing runs', async (t) => {
  const workspace = await starter(t);
  workspace.put('evals/bad.yaml', '- task: x\n  expekt: {result: y}\n');
  const { code, err } = await workspace.guild('eval');
  assert.equal(code, 1);
  assert.match(err, /evals\/bad\.yaml:2/);
  assert.match(err, /expect/);
  assert.equal((await workspace.guild('eval', 'no-such-folder')).code, 1);
});

test('every kind of expectation can fail', () => {
  const run: EvalRun = {
    state: 'completed',
    result: 'port 5432',
    calls: ['write_file'],
    asks: [],
    microUsd: 900,
    unpriced: 0,
    turns: 9,
    tokens: 10,
    ms: 5,
    file: (name) => (name === 'a.md' ? 'text' : undefined),
    verdict: { holds: false, reason: 'too long' },
  };
  const files = [
    { path: 'a.md', has: 'other' },
    { path: 'b.md', has: 'x' },
    { path: 'a.md', has: false as const },
  ];
  const evalCase: EvalCase = {
    id: 'c',
    about: 'c',
    task: 't',
    files: {},
    approve: 'none',
    expect: {
      state: 'failed',
      result: [/6543/],
      notResult: ['5432'],
      files,
      calls: ['read_file'],
      noCalls: ['write_file'],
      asks: ['execute_command'],
      judge: 'short',
      microUsd: 100,
      turns: 3,
    },
  };
  assert.equal(unmet(evalCase, run).length, 12);
});
