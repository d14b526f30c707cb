/** The published JSON Schemas, read back as JSON, accept every file that comes with the program. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { fromJSONSchema } from 'zod';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

const KINDS: [schema: string, files: RegExp][] = [
  ['guild', /guild\.yaml$/],
  ['agent', /agents\/[^/]+\.md$/],
  ['agent-yaml', /\.agent\.yaml$/],
  ['script', /script[^/]*\.yaml$/],
  ['allowlist', /allowlist\.yaml$/],
  ['policy', /policy\.yaml$/],
  ['check-in', /planner-checkin\.yaml$/],
  ['task', /tasks\/.*\.json$/],
  ['session', /\.session\.yaml$/],
];

const files = ['examples', 'starter', 'starter-swarm', 'test/fixtures']
  .filter((folder) => fs.existsSync(path.join(ROOT, folder)))
  .flatMap((folder) =>
    fs.readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );

for (const [name, pattern] of KINDS) {
  test(`schemas/${name}.json accepts every such file that comes with the program`, () => {
    const schema = published(name);
    const wrong = files
      .filter((file) => pattern.test(file) && !file.includes('.claude'))
      .flatMap((file) => {
        const checked = schema.safeParse(contentOf(file));
        return checked.success ? [] : [`${file}: ${checked.error.message}`];
      });
    assert.deepEqual(wrong, []);
  });
}

test('the published schemas refuse mistyped keys and wrong values, and accept other spellings', () => {
  const accepts = (name: string, yaml: string): boolean => published(name).safeParse(load(yaml)).success;
  assert.equal(accepts('guild', 'limits: {parallel: 3, taskPerMinute: 3}'), false);
  assert.equal(accepts('guild', 'limits: {parallel: 3, tasksPerMinute: 3}'), true);
  assert.equal(accepts('guild', 'limits: {parallel: many}'), false);
  assert.equal(accepts('guild', 'timeouts: {call: 10m}'), true);
  assert.equal(accepts('guild', 'timeouts: {call: soon}'), false);
  assert.equal(accepts('agent', 'team: {members: [a], maxRounds: 3}'), true);
  assert.equal(accepts('agent', 'temprature: 1'), false);
  assert.equal(accepts('task', '{description: x, ticket: 7}'), true);
  assert.equal(accepts('task', '{type: x}'), false);
});

function published(name: string) {
  const text = fs.readFileSync(path.join(ROOT, 'schemas', `${name}.json`), 'utf8');
  return fromJSONSchema(JSON.parse(text) as Parameters<typeof fromJSONSchema>[0]);
}

function contentOf(file: string): unknown {
  const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
  return load(file.endsWith('.md') ? (/^---\n([^]*?)\n---/.exec(text)?.[1] ?? '') : text) ?? {};
}
