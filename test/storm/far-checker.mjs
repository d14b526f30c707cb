/**
 * Checks the database and the workers' folders after a storm on several machines, with SQL and
 * plain files and without product code: every task ended once and correctly, every effect began
 * once and happened on one machine. The history of each entry must look as if a single machine had
 * written it: no end is taken back, nothing is taken from a living process, no process writes after
 * its death. Prints the problems as JSON.
 */
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';

const [url, schema, count, weather, ...folders] = process.argv.slice(2);
const KINDS = ['plain', 'writer', 'lead', 'plain', 'writer'];
const wrong = [];
const client = new pg.Client({ connectionString: url });
await client.connect();
const { rows } = await client.query(`select key, value, live from ${schema}.entry`);
const { rows: counts } = await client.query(
  `select log, count(*)::int as lines, max(n)::int as last from ${schema}.line group by log`,
);
const { rows: history } = await client.query(
  `select n::int, key, rev::bigint::text as rev, value, live, extract(epoch from at) as at from ${schema}.history order by n`,
);
const { rows: commits } = await client.query(
  `select id, result, extract(epoch from at) as at from ${schema}.done order by at, id`,
);
await client.end();
const deaths = deathsIn(history);
for (const [key, changes] of byKey(history)) judgeHistory(key, changes);
judgeCommits();

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
  // A standby that was behind may not know that a call was made, or that a machine had begun it.
  const most = weather === 'behind' ? 2 : 1;
  if (begun < 1 || begun > most) wrong.push(`${id} began ${begun} times`);
  if (files.length > most) wrong.push(`${id} wrote on ${files.length} machines`);
  if (files.length === 0 && !isUnsure) wrong.push(`${id} wrote nowhere`);
}

function byKey(changes) {
  const keys = new Map();
  for (const change of changes) {
    const list = keys.get(change.key) ?? [];
    list.push(change);
    keys.set(change.key, list);
  }
  return keys;
}

/** When each process was declared dead or left: its place in the history, and the time. */
function deathsIn(changes) {
  const found = new Map();
  for (const { n, key, rev, live, at } of changes)
    if (key.startsWith('peer/') && !live && !found.has(key.slice(5)))
      found.set(key.slice(5), { n, rev, at: Number(at) });
  return found;
}

function judgeHistory(key, changes) {
  const values = changes.map(({ value }) => (value === '' || !/^(task|effect)\//.test(key) ? {} : JSON.parse(value)));
  changes.forEach((change, at) => {
    const before = changes[at - 1];
    if (before === undefined) return;
    if (BigInt(change.rev) <= BigInt(before.rev)) wrong.push(`${key} went from ${before.rev} to ${change.rev}`);
    if (key.startsWith('peer/') && change.live && !before.live) wrong.push(`${key} came back to life`);
    if (key.startsWith('task/')) judgeTask(key, values[at - 1], values[at], change.n);
    if (key.startsWith('effect/')) judgeEffect(key, values[at - 1], values[at]);
  });
}

function judgeTask(key, before, after, n) {
  if (['completed', 'failed'].includes(before.state)) wrong.push(`${key} had ended as ${before.state} and went on`);
  const [from, to] = [before.owner?.peer, after.owner?.peer];
  if (from === undefined || to === undefined || from === to) return;
  const death = deaths.get(from);
  if (death === undefined || death.n > n) wrong.push(`${key} was taken from ${from}, which was alive, by ${to}`);
}

function judgeEffect(key, before, after) {
  if (before.outcome !== undefined) wrong.push(`${key} had an outcome and got another one`);
  if (before.digest !== after.digest || before.peer !== after.peer) wrong.push(`${key} changed what it is`);
}

/** Ids of commits are the process and a number. Those of one process come one after the other. */
function judgeCommits() {
  const last = new Map();
  const given = new Set();
  for (const { id, result, at } of commits) {
    for (const rev of result.p ?? []) {
      if (rev === null) continue;
      if (given.has(rev)) wrong.push(`revision ${rev} was given to two entries`);
      given.add(rev);
    }
    const [, peer, number] = /^(\w+)\.(\d+)$/.exec(id) ?? [];
    if (peer === undefined) continue;
    if (Number(number) <= (last.get(peer) ?? 0)) wrong.push(`${id} came after ${peer}.${last.get(peer)}`);
    last.set(peer, Number(number));
    const death = deaths.get(peer);
    const isItsEnd = (result.p ?? []).some((rev) => String(rev) === death?.rev);
    if (death !== undefined && !isItsEnd && Number(at) > death.at) wrong.push(`${peer} was dead when it wrote ${id}`);
  }
  const known = new Set(history.map(({ rev }) => rev));
  for (const rev of given) if (!known.has(String(rev))) wrong.push(`revision ${rev} was told but never written`);
}
