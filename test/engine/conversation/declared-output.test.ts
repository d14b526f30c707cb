/** Agents that declare their result: it is JSON that fits, or the task fails after one reminder. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';

const OUTPUT = 'output: {type: object, properties: {title: {type: string}, count: {type: integer}}, required: [title]}';
const agent = (more: string): string => `---\ndescription: Sums up\n${more}\n---\nSum it up.\n`;

function office(script: string, agents: Record<string, string>): Record<string, string> {
  const files = Object.entries(agents).map(([name, text]) => [`agents/${name}.md`, text]);
  const task = { 'tasks/pending/t1.json': '{"description": "sum it up", "to": "ana"}' };
  return { ...scripted(script, task), ...Object.fromEntries(files) };
}

const record = (workspace: Place, state: string): any => JSON.parse(workspace.read(`tasks/${state}/t1.json`));

test('an answer in text is read as JSON, also from a code block; a wrong one is reminded once', async (t) => {
  const script = `
- {agent: ana, turn: 1, say: Here it is}
- {agent: ana, turn: 2, when: it is not JSON, say: "\`\`\`json\\n{\\"title\\": \\"Done\\", \\"count\\": 2}\\n\`\`\`"}
`;
  const workspace = place(t, office(script, { ana: agent(OUTPUT) }));
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  assert.deepEqual(JSON.parse(record(workspace, 'completed').result), { title: 'Done', count: 2 });
  const { out } = await workspace.guild('prompt', 'ana');
  assert.match(out, /answer with JSON only[^]*"required":\["title"\]/);
});

test('an answer that does not fit after the reminder fails the task and keeps the text', async (t) => {
  const script = `- {agent: ana, say: '{"title": 1}'}`;
  const workspace = place(t, office(script, { ana: agent(OUTPUT) }));
  await workspace.guild('pump', '--all', '--quiet');
  const { error, result } = record(workspace, 'failed');
  assert.match(error.message, /does not fit its "output" after a reminder: title must be a text, not the number 1/);
  assert.equal(result, '{"title": 1}');
});

test('final_report takes the result as an object and checks it; a failure is said in words', async (t) => {
  const script = `
- {agent: ana, turn: 1, call: [{final_report: {report: Done}}]}
- {agent: ana, turn: 2, when: result is missing, call: [{final_report: {result: {count: 2}}}]}
- {agent: ana, turn: 3, when: title is missing, call: [{final_report: {result: {title: Done}}}]}
`;
  const workspace = place(t, office(script, { ana: agent(`tools: [final_report]\n${OUTPUT}`) }));
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  assert.deepEqual(JSON.parse(record(workspace, 'completed').result), { title: 'Done' });
  const { out } = await workspace.guild('prompt', 'ana');
  assert.match(out, /"result":\{"type":"object","properties":\{"title"/);
  const gaveUp = '- {agent: ana, call: [{final_report: {report: There is nothing., success: false}}]}';
  const other = place(t, office(gaveUp, { ana: agent(`tools: [final_report]\n${OUTPUT}`) }));
  await other.guild('pump', '--all', '--quiet');
  assert.match(record(other, 'failed').error.message, /could not do it: There is nothing\./);
});

test('guild check compares the output of an agent with the input of the next', async (t) => {
  const input =
    'input: {type: object, properties: {title: {type: string}, count: {type: number}}, required: [title, count]}';
  const agents = { ana: agent(`handoff: ben\n${OUTPUT}`), ben: agent(input), cem: agent('handoff: ben') };
  const { code, out, err } = await place(t, office('- {say: x}', agents)).guild('check');
  assert.equal(code, 1);
  assert.match(out + err, /ana hands off to ben, whose "input" does not fit: "count" is expected and may be missing/);
  assert.match(out + err, /cem hands off to ben, whose "input" does not fit: cem declares no "output"/);
  const both = { ...agents, ana: agents.ana.replace('required: [title]', 'required: [title, count]'), cem: agent('') };
  succeeds(await place(t, office('- {say: x}', both)).guild('check'));
});

test('a schema that cannot be checked is an error with its place', async (t) => {
  const wrong = 'output: {type: object, properties: {title: {anyOf: [{type: string}]}}}';
  const { code, out, err } = await place(t, office('- {say: x}', { ana: agent(wrong) })).guild('check');
  assert.equal(code, 1);
  assert.match(
    out + err,
    /"anyOf" is not known here[^]*agents\/ana\.md:3|agents\/ana\.md:3[^]*"anyOf" is not known here/,
  );
});
