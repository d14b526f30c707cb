/** Relevance agrees with a person on which agents a text concerns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { relevance, RELEVANT } from '../../../src/rules/coordination/relevance.js';

type Profile = Parameters<typeof relevance>[0];

const profile = (name: string, description: string, expertise: string[] = [], capabilities: string[] = []): Profile => {
  return { name, description, expertise, capabilities };
};

const TEAM = {
  data: profile('data', 'Writes and tunes queries', ['postgres', 'sql', 'schema design']),
  web: profile('web', 'Builds pages that people see', ['css', 'html', 'accessibility']),
  safe: profile('safe', 'Looks for holes before others do', ['security', 'cryptography', 'threat modelling']),
  docs: profile('docs', 'Writes guides and release notes for people who use the program'),
  ops: profile('ops', 'Runs containers and the machines under them', ['docker', 'kubernetes', 'monitoring']),
};
const ALL = Object.values(TEAM);

const PAIRS: [keyof typeof TEAM, string, boolean][] = [
  ['data', 'The SQL query on postgres takes nine seconds; how can it be made faster?', true],
  ['data', 'Design a schema for orders and customers', true],
  ['data', 'The button is not aligned on small screens', false],
  ['web', 'The CSS of the header breaks on small screens', true],
  ['web', 'Is this page accessible to people who cannot see?', true],
  ['web', 'Rotate the certificates of the mail server', false],
  ['safe', 'Is the cryptography of our tokens sound?', true],
  ['safe', 'Review the security of the login', true],
  ['safe', 'Write the release notes', false],
  ['docs', 'Write release notes for people who use the new program', true],
  ['docs', 'Why does the container restart every minute?', false],
  ['ops', 'Why does the Docker container restart every minute?', true],
  ['ops', 'The kubernetes cluster has no monitoring', true],
  ['ops', 'Translate this poem', false],
];

for (const [name, text, related] of PAIRS) {
  test(`${name} is ${related ? 'relevant' : 'not relevant'} to: ${text}`, () => {
    const score = relevance(TEAM[name], text, ALL);
    assert.equal(score > RELEVANT, related, `it is ${score.toFixed(2)}`);
  });
}

test('the agent with the matching expertise comes first', () => {
  const order = [...ALL].sort((a, b) => relevance(b, PAIRS[0]![1], ALL) - relevance(a, PAIRS[0]![1], ALL));
  assert.equal(order[0]!.name, 'data');
});

test('relevance is between 0 and 1, and 0 for an empty text', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.array(fc.string(), { maxLength: 5 }), (about, text, expertise) => {
      const score = relevance(profile('x', about, expertise), text, ALL);
      assert.ok(score >= 0 && score <= 1, `it is ${score}`);
    }),
  );
  assert.equal(relevance(TEAM.data, '', ALL), 0);
});
