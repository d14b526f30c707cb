/** Wrong usage gives one clear problem and the right exit code, and changes nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMMANDS } from '../../src/cli/commands.js';
import { place, scripted, succeeds } from '../kit/guild.js';

const ENDED = '{"description": "x", "result": "y", "ended_at": "2026-01-01T00:00:00.000Z"}';

/** Command line, exit code, expected message. */
const WRONG: [string, number, RegExp][] = [
  ['frobnicate', 2, /there is no command "frobnicate"/],
  ['Taks', 2, /did you mean guild task\?/],
  ['--foo', 2, /there is no option --foo/],
  ['--workspace', 2, /a command is missing/],
  ['help nope', 2, /there is no command "nope"/],
  ['pump --foo', 2, /there is no option --foo\n {2}guild pump --help/],
  ['task list --limt 3', 2, /there is no option --limt; did you mean --limit\?/],
  ['task list -3', 2, /there is no option -3\n {2}guild task --help/],
  ['task list --limit', 2, /--limit needs a value\n {2}guild task --help/],
  ['task list --all=3', 2, /--all takes no value/],
  ['pump extra', 2, /takes no argument "extra"/],
  ['init a b', 2, /takes no argument "b"/],
  ['task list --state foo', 2, /the states are pending, active/],
  ['task list --limit abc', 2, /--limit must be a whole number/],
  ['task show', 2, /needs the id of a task/],
  ['task show nope', 1, /there is no task nope\n {2}guild task list --all/],
  ['task show ../../guild.yaml', 1, /there is no task/],
  ['task add', 2, /a task needs a description/],
  ['task add x --id ../x', 2, /cannot be the id of a task/],
  ['task add x --id done', 1, /a task done already exists/],
  ['task add x --priority Z', 2, /a priority is A, B, C or D/],
  ['task add x --to nobody', 1, /there is no agent nobody; the agents are: boss, hand/],
  ['task cancel done', 2, /done has ended \(completed\)/],
  ['task retry done', 2, /only failed tasks can be retried/],
  ['task assign done hand', 2, /done has ended \(completed\)/],
  ['task assign done', 2, /needs the name of an agent/],
  ['task assign done hnad', 1, /there is no agent hnad/],
  ['why nope', 1, /there is no task nope/],
  ['run', 2, /needs an agent and a text/],
  ['run nobody hello', 1, /there is no agent nobody; the agents are: boss, hand/],
  ['run boss', 2, /a task needs a description/],
  ['run boss hi --model gpt5', 1, /--model: there is no model gpt5\n {2}name it as provider\/model/],
  ['run boss hi --model nowhere/x', 1, /--model: there is no provider nowhere\n {2}providers are/],
  ['agent foo', 2, /it has list, /],
  ['agent resum boss', 2, /did you mean "resume"\?/],
  ['task lst', 2, /guild task has no command "lst"\n {2}did you mean "list"\?/],
  ['inbox lits', 2, /did you mean "list"\?/],
  ['policy', 2, /guild policy needs a command\n {2}it has test, path/],
  ['--verison', 2, /there is no option --verison\n {2}did you mean "--version"\?/],
  ['agent list --format json', 2, /--format needs --graph\n {2}for programs, use --json/],
  ['agent list --graph --format png', 2, /there is no format "png"\n {2}the formats are text, mermaid, dot, json/],
  ['graph done --format svg', 2, /there is no format "svg"\n {2}the formats are text, mermaid, dot, json/],
  ['graph done --format mermiad', 2, /did you mean mermaid\?/],
  ['task list --format json', 2, /there is no option --format; did you mean --json\?/],
  ['state -o json', 2, /there is no option -o; did you mean --json\?/],
  ['help nope --json', 2, /there is no command "nope"/],
  ['agent new boss', 1, /agents\/boss\.md already exists/],
  ['agent new', 2, /guild agent new needs a name/],
  ['agent new ../x', 2, /"\.\.\/x" cannot be the name of an agent/],
  ['agent new human', 2, /"human" is the person, not an agent/],
  ['agent start nobody', 1, /there is no agent nobody/],
  ['check nowhere', 1, /there is no folder .*nowhere/],
  ['model-server --port abc', 2, /--port must be a whole number from 0 to 65535/],
  ['model-server --port 70000', 2, /--port must be a whole number from 0 to 65535/],
  ['model-server --script nope.yaml', 1, /there is no script nope\.yaml/],
  ['model-server --as antropic', 2, /there is no stand-in for "antropic".*did you mean "anthropic"/s],
  ['model-server --as google --quirk nope', 2, /there is no quirk "nope"/],
  ['model-server --quirk no-end', 2, /--quirk needs --as/],
  ['model-server --host 300.1.1.1 --port 0', 2, /cannot listen on 300\.1\.1\.1/],
  ['demo --dir .', 2, /is not empty/],
  ['demo now', 2, /takes no argument "now"/],
  ['-w /nowhere/at/all task list', 1, /does not exist\n {2}make one with `guild init`/],
];

/** Every option that takes a number, on every command. */
const NUMBERS = ['task list --limit', 'log --limit', 'state --history --limit', 'state --limit', 'notes --last'].concat(
  ['notes task --last', 'fork some --at', 'model-server --port'],
);
for (const [i, command] of NUMBERS.entries()) {
  const expected = `^problem: --${command.split(' --').at(-1)} must be a whole number .*, not .*\n  guild \\S+ --help shows the options\n$`;
  for (const odd of ['-3', ['three', '-0.5', '1.5', '1e3'][i % 4]])
    WRONG.push([`${command} ${odd}`, 2, new RegExp(expected)]);
}

for (const part of [0, 1, 2]) {
  test(`wrong usage is reported with an exit code and changes nothing (${part + 1} of 3)`, async (t) => {
    const { guild, list } = place(t, scripted('- say: ok', { 'tasks/completed/done.json': ENDED }));
    for (const [command, code, expected] of WRONG.filter((_, i) => i % 3 === part)) {
      const ran = await guild(...command.split(' '), '--json');
      assert.equal(ran.code, code, `guild ${command}: ${ran.err}`);
      assert.match(ran.err, expected, `guild ${command}`);
      assert.doesNotMatch(ran.err, /a bug in guild/, `guild ${command}`);
      const { problem } = JSON.parse(ran.out) as { problem: { code: string; message: string } };
      assert.match(problem.code, /^[a-z_]+$/, 'programs get the same problem');
    }
    assert.deepEqual([list('tasks/pending'), list('tasks/failed')], [[], []]);
  });
}

test('every command explains itself', async (t) => {
  const { guild } = place(t);
  const overview = succeeds(await guild('--help')).out;
  for (const { name } of COMMANDS) assert.match(overview, new RegExp(`^  ${name} `, 'm'));
  for (const { name } of COMMANDS)
    assert.match(succeeds(await guild('help', name)).out, new RegExp(`^ *guild ${name}\\b`, 'm'));
  assert.match(
    succeeds(await guild('help', 'task')).out,
    /guild task retry <id>[^]*--requires CAP,…[^]*--workspace, -w DIR[^]*Exit codes: 0 done/,
  );
  assert.match(
    succeeds(await guild('watch', '--help')).out,
    /Several\s+guild\s+watch\s+processes\s+can\s+share\s+one\s+workspace/,
  );
  assert.match(succeeds(await guild('--version')).out, /^\d+\.\d+\.\d+\n$/);
});

test('reading and writing commands refuse a folder that is not a workspace', async (t) => {
  const { guild, list } = place(t);
  for (const command of ['task list', 'pump', 'watch', 'state', 'why x', 'run a b']) {
    const ran = await guild(...command.split(' '));
    assert.equal(ran.code, 1, command);
    assert.match(ran.err, /is not a workspace: .*\n {2}make one with `guild init`/, command);
  }
  assert.deepEqual(list('.'), []);
});
