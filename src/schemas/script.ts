/**
 * The script of the scripted model: a list of lines. The first line that fits a call answers it.
 */
import { MODEL_FAILURES } from '../domain/session/model-failure.js';
import { DURATION } from './amounts.js';
import { key, named, rule } from './about.js';
import { choice, text, whole } from './values.js';
import * as z from './zod.js';

const globs = named(
  'text or list of text',
  z.union([text, z.array(text)], { error: 'a name, a glob, or a list of them' }),
);

const patternError = 'text or a /regular expression/';
const pattern = z.union([z.string(), z.number(), z.boolean()], { error: patternError }).check(
  z.refine((value) => patternOf(value) !== undefined, {
    error: ({ input }) => `${patternError} that is valid (${whyNot(input)})`,
  }),
);
const patterns = named(
  'text, `/regex/i`, or a list of them',
  z.union([pattern, z.array(pattern)], { error: patternError }),
);

const turnError = 'a number from 1, a list of them, or {from: 2, to: 5}';
const turnNumber = z.int({ error: turnError }).check(z.gte(1));
const span = z.union(
  [
    turnNumber,
    z.strictObject(
      {
        from: key(turnNumber, 'The first turn.', { default: '`1`' }),
        to: key(turnNumber, 'The last turn.', { default: 'no end', example: '5' }),
      },
      { error: turnError },
    ),
  ],
  { error: turnError },
);

/**
 * A bare number would be ambiguous: seconds in other files, milliseconds to many authors of
 * scripts.
 */
const timeError = 'a time with a unit: 50ms, 2s or 1m';
const time = named('duration', z.union([z.literal(0), z.string().check(z.regex(DURATION))], { error: timeError }));

const when = z.strictObject({
  last: key(patterns, 'In the messages since the model last spoke.', { example: 'redis' }),
  any: key(patterns, 'In the whole conversation.', { example: '/port (\\d+)/' }),
  system: key(patterns, 'In the system prompt.', { example: 'You are the planner' }),
  tool: key(
    z.union([globs, z.record(z.string(), z.union([z.null(), patterns]))], {
      error: 'a tool, or a mapping of tools to text',
    }),
    'A tool gave a result since the model last spoke, and the result contains the text.',
    { example: '{read_file: port}' },
  ),
});

const callError = 'the name of a tool with its arguments, such as read_file: {path: a.md}';
const call = z.union(
  [
    named('name', z.string({ error: callError }).check(z.regex(/./))),
    z
      .record(
        z.string(),
        z.union([z.null(), named('arguments', z.record(z.string(), z.unknown()))], { error: 'a mapping of arguments' }),
        { error: callError },
      )
      .check(z.refine((calls) => Object.keys(calls).length > 0, { error: callError })),
  ],
  { error: callError },
);

const usage = z.strictObject(
  {
    input: key(whole(), 'Input tokens.', { example: '120' }),
    output: key(whole(), 'Output tokens.', { example: '30' }),
    cached: key(whole(), 'Input tokens that came from the cache.', { example: '100' }),
  },
  { error: 'a mapping such as {input: 120, output: 30}' },
);

const line = z
  .strictObject(
    {
      agent: key(globs, 'The agent that calls the model: a name, a glob or a list.', {
        default: 'any agent',
        example: 'planner',
      }),
      task: key(globs, 'The id of the task: a glob or a list.', { default: 'any task', example: '"*.advisor-*"' }),
      turn: key(
        named('number, `{from, to}`, or a list of them', z.union([span, z.array(span)], { error: turnError })),
        'The number of the model call in this conversation.',
        { default: 'any turn', example: '1' },
      ),
      when: key(
        z.union([patterns, when], { error: 'text, a list of texts, or a mapping of last, any, system and tool' }),
        'Text that must occur. A list needs one of its items, a mapping needs all of its keys.',
        { default: 'always', example: 'redis' },
      ),
      times: key(whole(1), 'How often this line may answer in one process.', { default: 'no limit', example: '1' }),
      say: key(
        text,
        'The text of the answer. `{{last}}`, `{{task}}`, `{{turn}}`, `{{agent}}` and groups such as `{{1}}` are filled in.',
        {
          example: "I'll look it up.",
        },
      ),
      call: key(
        named(
          'tool name, `tool: {arguments}`, or a list of them',
          z.union([call, z.array(call)], { error: callError }),
        ),
        'The tool calls of the answer, in order.',
        {
          example: '[{read_file: {path: memory/system-config.md}}]',
        },
      ),
      usage: key(usage, 'The tokens that the call counts.', {
        default: 'a quarter of the characters',
        example: '{input: 120, output: 30}',
      }),
      wait: key(time, 'How long the answer takes.', { default: '`0`', example: '50ms' }),
      pace: key(time, 'How long each streamed piece takes.', { default: '`0`', example: '5ms' }),
      fail: key(choice(MODEL_FAILURES), 'The call fails with this class instead of an answer.', { example: 'rate' }),
      message: key(text, 'With `fail`: the message of the failure.', { example: 'slow down' }),
      retry_after: key(time, 'With `fail`: how long the server asks to wait.', { example: '2s' }),
      finish: key(choice(['length', 'filtered']), 'The answer looks as if it was cut off or filtered.', {
        example: 'length',
      }),
    },
    { error: 'a mapping such as {agent: planner, say: hello}' },
  )
  .check(
    ...(['retry_after', 'message'] as const).map((name) =>
      rule<LineKeys>(
        (line) => line.fail !== undefined || line[name] === undefined,
        `"${name}" is only for a line with "fail"`,
        {
          path: [name],
        },
      ),
    ),
    ...(['call', 'finish', 'usage'] as const).map((name) =>
      rule<LineKeys>(
        (line) => line.fail === undefined || line[name] === undefined,
        `a line with "fail" cannot have "${name}"`,
        {
          path: [name],
        },
      ),
    ),
    rule(
      (line) => (line.say ?? line.call ?? line.fail) !== undefined,
      'this line does nothing: give it "say", "call" or "fail"',
    ),
  );

type LineKeys = Partial<Record<'fail' | 'retry_after' | 'message' | 'call' | 'finish' | 'usage', unknown>>;

export const scriptYaml = z.array(line, { error: 'a list of lines, each beginning with "- "' });
export type ScriptLineFile = z.infer<typeof line>;

/**
 * `/regex/flags` as a regular expression, everything else as text. Undefined if the expression is
 * not valid.
 */
export function patternOf(value: unknown): string | RegExp | undefined {
  try {
    return compile(String(value));
  } catch {
    return undefined;
  }
}

function compile(text: string): string | RegExp {
  const regex = /^\/(.+)\/([a-z]*)$/s.exec(text);
  return regex === null ? text : new RegExp(regex[1]!, regex[2]!.replace(/[gy]/g, ''));
}

function whyNot(value: unknown): string {
  try {
    compile(String(value));
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
