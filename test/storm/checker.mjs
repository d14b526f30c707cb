/**
 * Checks the folder after the storm, from its files alone and without product code: every task
 * ended once and correctly, every effect happened once, nothing is left over, every file can be
 * read. Prints the problems as JSON.
 */
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const [root, count] = process.argv.slice(2);
const KINDS = ['plain', 'writer', 'lead', 'plain', 'writer'];
const wrong = [];
const list = (folder) => (fs.existsSync(path.join(root, folder)) ? fs.readdirSync(path.join(root, folder)).sort() : []);
const text = (file) => fs.readFileSync(path.join(root, file), 'utf8');
const fault = (what, happened) => happened || wrong.push(what);

for (const folder of [
  'tasks/pending',
  'tasks/active',
  'tasks/waiting',
  '.guild/tmp',
  '.guild/intents',
  'quarantine',
  'agents/live',
]) {
  for (const name of list(folder)) wrong.push(`${folder}/${name} is left over`);
}

const ended = new Map();
for (const state of ['completed', 'failed']) {
  for (const name of list(`tasks/${state}`)) {
    const id = name.replace(/\.json$/, '');
    fault(`${id} ended twice`, !ended.has(id));
    ended.set(id, { state, ...JSON.parse(text(`tasks/${state}/${name}`)) });
  }
}

for (let n = 0; n < Number(count); n++) {
  const kind = KINDS[n % KINDS.length];
  const id = `${kind}-${n}`;
  const task = ended.get(id);
  if (task === undefined) {
    wrong.push(`${id} has no end`);
    continue;
  }
  judge(id, kind, task);
  fault(
    `results/${id}.md is missing`,
    list('results').length > 0 && fs.existsSync(path.join(root, 'results', `${id}.md`)),
  );
  if (kind !== 'lead') continue;
  const children = [...ended.keys()].filter((one) => one.startsWith(`${id}.`));
  fault(`${id} has ${children.length} children: ${children.join(' ')}`, children.length === 2);
  for (const child of children) judge(child, ended.get(child).to, ended.get(child));
}
const roots = Number(count);
const leads = [...Array(roots).keys()].filter((n) => KINDS[n % KINDS.length] === 'lead').length;
fault(`${ended.size} tasks ended, not ${roots + 2 * leads}`, ended.size === roots + 2 * leads);

function judge(id, kind, task) {
  const expected = {
    plain: [`answer of ${id}`],
    writer: [`written by ${id}`, `perhaps written by ${id}`],
    lead: [`both answered ${id}`],
  }[kind];
  fault(
    `${id} is ${task.state} with ${JSON.stringify(task.result ?? task.error)}`,
    task.state === 'completed' && expected.includes(task.result),
  );
  if (kind === 'writer') effect(id, task.result.startsWith('perhaps'));
}

/**
 * The file was written after the record of its start and before that of its outcome, with the right
 * bytes; a second write would be later.
 */
function effect(id, unsure) {
  const file = path.join(root, 'workspaces/writer', `${id}.txt`);
  const started = list('.guild/run').filter((name) => name.startsWith(`${id}.call-`));
  fault(`${id} began its effect ${started.length} times`, started.length === 1);
  if (!fs.existsSync(file)) return void fault(`${id}'s file is missing though it says so`, unsure);
  fault(
    `${id}'s file holds ${JSON.stringify(fs.readFileSync(file, 'utf8'))}`,
    fs.readFileSync(file, 'utf8') === `${id} wrote this\n`,
  );
  if (started.length !== 1) return;
  const written = fs.statSync(file).mtimeMs;
  const record = `.guild/run/${started[0]}`;
  const [start, outcome] = text(record).split('\n');
  fault(`${id} wrote before it said so`, written >= Date.parse(JSON.parse(start).at) - 20);
  const done = fs.statSync(path.join(root, record)).mtimeMs;
  if (outcome) fault(`${id} wrote again after it was done`, written <= done + 20);
}

for (const name of list('sessions')) {
  try {
    const { messages, status } = parse(text(`sessions/${name}`));
    const called = messages.flatMap((one) => (one.tool_calls ?? []).map((call) => call.id));
    const answered = messages.filter((one) => one.role === 'tool').map((one) => one.tool_call_id);
    fault(`sessions/${name} answers a call twice`, new Set(answered).size === answered.length);
    fault(
      `sessions/${name} has a call without its result`,
      called.every((id) => answered.includes(id)),
    );
    fault(`sessions/${name} ends with ${messages.at(-1).role}`, messages.at(-1).role === 'assistant');
    fault(`sessions/${name} is ${status}`, ['completed', 'active', 'sleeping'].includes(status));
  } catch (error) {
    wrong.push(`sessions/${name}: ${error.message}`);
  }
}

let lines = 0;
for (const name of list('events')) {
  const all = text(`events/${name}`).split('\n');
  fault(`events/${name} ends without a newline`, all.pop() === '');
  for (const line of all) {
    lines++;
    try {
      JSON.parse(line);
    } catch (error) {
      wrong.push(`events/${name}: ${error.message}: ${line.slice(0, 200)}`);
    }
  }
}
fault('there is no history', lines > 0);
process.stdout.write(JSON.stringify(wrong));
