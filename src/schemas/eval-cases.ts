/** `evals/*.yaml`: a list of cases, each a task and what must be true afterwards. */
import { scriptYaml } from './script.js';
import { choice, mapping, name, names, text, whole } from './values.js';
import { key, named } from './about.js';
import * as z from './zod.js';

const pattern = named('text or `/regex/i`', z.string({ error: 'text or a /regular expression/' }));
const patterns = named(
  'text, `/regex/i`, or a list of them',
  z.union([pattern, z.array(pattern)], { error: 'text, or a list of texts' }),
);

const expect = z.strictObject(
  {
    state: key(
      choice(['completed', 'failed', 'waiting', 'ended']),
      'How the task ends; `ended`: completed or failed.',
      { default: '`completed`' },
    ),
    result: key(patterns, 'The result contains all of these.', { example: '["6543", /staging\\.md/]' }),
    not_result: key(patterns, 'The result contains none of these.', { example: '/I (think|guess)/i' }),
    files: key(
      z.record(z.string(), z.union([z.literal(false), pattern], { error: 'text, or false' }), mapping),
      'Files that exist afterwards and contain the text; `false`: the file does not exist.',
      { example: '{notes.md: hello}' },
    ),
    calls: key(names, 'Tools that some agent calls.', { example: '[read_file]' }),
    no_calls: key(names, 'Tools that no agent calls.', { example: '[write_file]' }),
    asks: key(names, 'Tools for which a person is asked.', { example: '[execute_command]' }),
    judge: key(text, 'A sentence that a judge model must find true of the result.', {
      example: 'The answer names the file that the port comes from.',
    }),
    usd: key(named('dollars', z.number({ error: 'a number' }).check(z.gte(0))), 'The most it may cost.', {
      example: '0.05',
    }),
    turns: key(whole(1), 'The most model calls it may take.', { example: '8' }),
  },
  mapping,
);

const evalCase = z.strictObject(
  {
    about: key(text, 'The behaviour that the case shows, in one sentence.', {
      example: 'The retriever names its source',
    }),
    task: key(text, 'The request.', { example: 'Which port does the staging database use?' }),
    to: key(name, 'The agent that gets it.', { default: 'the team decides', example: 'retriever' }),
    files: key(
      z.record(z.string(), z.string({ error: 'the text of the file' }), mapping),
      'Files that the workspace has in addition to the team’s own.',
      { example: '{memory/db.md: "Port 6543"}' },
    ),
    approve: key(choice(['none', 'all']), 'How requests of agents are answered.', { default: '`none`' }),
    expect: key(expect, 'The conditions that must hold afterwards.', { example: '{result: "6543"}' }),
    script: key(
      named('list of script lines', scriptYaml),
      'The answers of the scripted model when the case runs with `--offline`.',
      { example: '[{say: "Port 6543"}]' },
    ),
  },
  mapping,
);

export const evalYaml = z.array(evalCase, { error: 'a list of cases' });
