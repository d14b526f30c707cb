/** `guild prompt` prints what a model would get; `guild check` reports unknown variables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, scripted, succeeds } from '../kit/guild.js';

interface View {
  system: string;
  tools: { name: string }[];
  messages: { content: string }[];
  session?: string;
  tokens: { system: number };
}

test('it prints the system text, the tools and the request, and calls no model', async (t) => {
  const here = place(t, scripted('- {say: never}\n'));
  const { out, err } = succeeds(await here.guild('prompt', 'boss', 'Look', 'around'));
  assert.match(
    out,
    /^=== system, about \d+ tokens\nYou are the boss\.\n\nYou are the agent "boss" in a Guildhall workspace\. Today is /,
  );
  assert.match(out, /=== 2 tools, about \d+ tokens\nread_file: /);
  assert.match(out, /"enum":\["hand"\]/);
  assert.match(out, /=== 1 message, about \d+ tokens\n--- user \(human\)\nLook around\n$/);
  assert.match(err, /about \d+ tokens for pretend\/x/);
  assert.deepEqual(here.list('sessions'), []);
});

test('for a task that has started, it prints the pinned prompt and the conversation', async (t) => {
  const here = place(t, scripted('- {turn: 1, call: [{read_file: {path: guild.yaml}}]}\n- {say: Done.}\n'));
  succeeds(await here.guild('run', 'boss', 'Look', '--id', 'look', '-q'));
  here.put('agents/boss.md', '---\ndescription: Changed\n---\nAnother prompt.\n');
  const view = JSON.parse(succeeds(await here.guild('prompt', 'boss', 'look', '--json')).out) as View;
  assert.match(view.system, /^You are the boss\./);
  assert.deepEqual(
    view.messages.map(({ content }) => content.split('\n')[0]).filter((line) => line !== ''),
    ['Look', 'model: pretend/x', 'Done.'],
  );
  assert.equal(view.session, 'boss-look');
});

test('an agent with a pattern is shown its own turn, and --role shows the turns it takes for others', async (t) => {
  const here = place(
    t,
    scripted('- {say: never}\n', {
      'agents/boss.md': '---\ndescription: B\nrouter: {destinations: [hand]}\n---\nYou are the boss.\n',
    }),
  );
  const view = async (...args: string[]): Promise<View> =>
    JSON.parse(succeeds(await here.guild('prompt', ...args, '--json')).out) as View;
  const names = ({ tools }: View): string[] => tools.map(({ name }) => name);
  assert.deepEqual(names(await view('boss', 'Look')), ['route_to']);
  assert.deepEqual(names(await view('hand', 'Look', '--role', 'member')).slice(-2), ['broadcast', 'vote_conclude']);
  const bid = await view('hand', 'Look', '--role', 'bid');
  assert.deepEqual(names(bid), ['place_bid']);
  assert.match(bid.system, /answer with one call of place_bid/);
  const wrong = await here.guild('prompt', 'hand', 'Look', '--role', 'bids');
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /unknown role "bids"[^]*bid/);
});

test('an unknown agent is reported with the nearest one', async (t) => {
  const here = place(t, scripted('- {say: never}\n'));
  const ran = await here.guild('prompt', 'bos');
  assert.equal(ran.code, 1);
  assert.match(ran.err, /there is no agent bos[^]*boss/);
});

test('a variable that nothing fills in is a problem of its file, but not in files of other programs', async (t) => {
  const files = {
    'agents/boss.md':
      '---\ndescription: B\nvariables: {tone: kind}\n---\nToday is {{date}}. Be {{tone}}.\nUse {{tols}} and `{{this}}`.\n',
    '.claude/agents/foreign.md': '---\nname: foreign\ndescription: F\n---\nUse ${{ secrets.X }} and {{ y }}.\n',
  };
  const here = place(t, scripted('- {say: never}\n', files));
  const ran = await here.guild('check');
  assert.equal(ran.code, 1, ran.out + ran.err);
  assert.match(ran.err, /agents\/boss\.md:6:5: nothing fills in \{\{tols\}\}/);
  assert.equal(ran.err.match(/nothing fills in/g)?.length, 1);
});
