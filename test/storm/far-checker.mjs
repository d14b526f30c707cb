/**
 * Checks the database and the workers' folders after a storm on several machines, with SQL and
 * plain files and without product code: every task ended once and correctly, every effect began
 * once and happened on one machine. Prints the problems as JSON.
 */
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';

const [url, schema, count, ...folders] = process.argv.slice(2);
const KINDS = ['plain', 'writer', 'lead', 'plain', 'writer'];
const wrong = [];
const client = new pg.Client({ connectionString: url });
await client.connect();
const { rows } = await client.query(`select key, value, live from ${schema}.entry`);
const { rows: counts } = await client.query(
  `select log, count(*)::int as lines, max(n)::int as last from ${schema}.line group by log`,
);
await client.end();

const tasks = new Map(
  rows
    .filter(({ key }) => key.startsWith('task/'))
    .map(({ key, value, live }) => [key.slice(5), { ...JSON.parse(value), live }]),
);
const effects = rows.filter(({ key }) => key.startsWith('effect/')).map(({ key }) => key.slice(7));
for (const [id, { state, live }] of tasks)
  if (live || !['completed', 'failed'].includes(state)) wrong.push(`${id} is open`);
for (const { log, lines, last } of counts) if (lines !== last) wrong.push(`${log} has ${lines} lines up to ${last}`);
for (let n = 0; n < Number(count); n++) {
  const id = `${KINDS[n % 5]}-${n}`;
  judge(id, KINDS[n % 5]);
  if (KINDS[n % 5] !== 'lead') continue;
  const children = [...tasks.keys()].filter((one) => one.startsWith(`${id}.`));
  if (children.length !== 2) wrong.push(`${id} has ${children.length} children`);
  for (const child of children) judge(child, tasks.get(child).task.to);
}
process.stdout.write(JSON.stringify(wrong));

function judge(id, kind) {
  const expected = {
    plain: [`answer of ${id}`],
    writer: [`written by ${id}`, `perhaps written by ${id}`],
    lead: [`both answered ${id}`],
  }[kind];
  const found = tasks.get(id);
  if (found?.state !== 'completed' || !expected.includes(found.task.result)) {
    wrong.push(`${id}: ${found?.state} ${found?.task.result ?? JSON.stringify(found?.task.error)}`);
    return;
  }
  if (kind !== 'writer') return;
  const begun = effects.filter((effect) => effect.startsWith(`${id}.call-`)).length;
  const files = folders.filter((folder) => fs.existsSync(path.join(folder, 'workspaces/writer', `${id}.txt`)));
  const isUnsure = found.task.result.startsWith('perhaps');
  if (begun !== 1) wrong.push(`${id} began ${begun} times`);
  if (files.length > 1) wrong.push(`${id} wrote on ${files.length} machines`);
  if (files.length === 0 && !isUnsure) wrong.push(`${id} wrote nowhere`);
}
