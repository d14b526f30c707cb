/** A conversation: `sessions/<id>.session.yaml`. Unknown keys are kept, `null` counts as absent. */
import { parseMapping } from '../domain/mapping.js';
import { PROBLEM_CODES } from '../domain/problem.js';
import { MESSAGE_KINDS, MESSAGE_ROLES, SESSION_STATUSES } from '../domain/session/session.js';
import { named, needed, nullable, rule } from './about.js';
import { choice, flag, mapping, text } from './values.js';
import * as z from './zod.js';

const amount = z.number({ error: 'a number' });

const usage = z.looseObject(
  {
    model: nullable(text, 'The model that answered.', { example: 'openai/gpt-5' }),
    input_tokens: nullable(amount, 'Input tokens.', { example: '137' }),
    output_tokens: nullable(amount, 'Output tokens.', { example: '82' }),
    cached_tokens: nullable(amount, 'Input tokens that came from the cache.', { example: '100' }),
    micro_usd: nullable(amount, 'Cost, in millionths of a US dollar.', { example: '450' }),
    ms: nullable(amount, 'How long the call took.', { example: '395' }),
  },
  mapping,
);

const fileRef = z.looseObject(
  {
    name: nullable(text, 'The name of the file.', { example: 'plan.png' }),
    media_type: nullable(text, 'The media type.', { example: 'image/png' }),
    blob: nullable(text, 'The file in `storage/blobs/` that has its bytes.', { example: '7d0e43f1' }),
    bytes: nullable(amount, 'Its size.', { example: '34810' }),
  },
  mapping,
);

const provider = z.looseObject(
  {
    name: nullable(text, 'The provider, as it is named in `guild.yaml`.', { example: 'anthropic' }),
    model: nullable(text, 'The model.', { example: 'claude-opus-5-5' }),
    message: nullable(text, 'The sha256 of the message and the data. An edited message has another.', {
      example: '50a6830d',
    }),
    chain: nullable(text, 'The sha256 chain over system text, tools and every earlier message as they were sent.', {
      example: '9c14f2aa',
    }),
    parts: nullable(text, 'The data, as JSON.', { example: '\'[{"type":"reasoning"}]\'' }),
    blob: nullable(text, 'The file in `storage/blobs/` that has the data, if it is long.', { example: '7d0e43f1' }),
  },
  mapping,
);

const jsonObject = z.string().check(z.refine((value) => value === '' || parseMapping(value) !== undefined));
const callArguments = {
  arguments: nullable(
    z.union([z.record(z.string(), z.unknown()), jsonObject], { error: 'a mapping, or the text of a JSON object' }),
    'The arguments of the tool.',
    { example: '{path: memory/system-config.md}' },
  ),
};

const toolCall = z
  .looseObject(
    {
      id: nullable(text, 'The id that the result refers to.', {
        default: '`call-` and its number',
        example: 'call_e9q2f61yby',
      }),
      type: nullable(text, 'Always `function`.', { example: 'function' }),
      function: nullable(
        z.looseObject(
          { name: needed(text, 'The name of the tool.', { example: 'read_file' }), ...callArguments },
          mapping,
        ),
        'The tool and its arguments.',
        { example: '{name: read_file, arguments: {path: a.md}}' },
      ),
      name: nullable(text, 'The name of the tool, if there is no `function`.', { example: 'read_file' }),
      fault: nullable(text, 'Why its arguments were not kept and it did not run.', {
        example: 'the arguments are nested deeper than 32 levels',
      }),
      ...callArguments,
    },
    mapping,
  )
  .check(
    rule(({ function: called, name }) => (called ?? name ?? null) !== null, 'this tool call does not name a tool'),
  );

const pins = z.looseObject(
  {
    system: needed(text, 'The sha256 of the system text; the text is in `storage/blobs/`.', { example: '50a6830d' }),
    tools: needed(text, 'The sha256 of the list of tools, as JSON in `storage/blobs/`.', { example: '9c1185a5' }),
  },
  mapping,
);

const compacted = z.looseObject(
  {
    up_to: needed(amount, 'The first message, counted from 0, that is not left out.', { example: '41' }),
    short_to: nullable(amount, 'Long results before this message are shortened.', { example: '60' }),
  },
  mapping,
);

const message = z.looseObject(
  {
    role: needed(
      choice([...MESSAGE_ROLES, 'human', 'tool_result', 'function', 'developer']),
      'Who speaks. `human` is read as `user`, `tool_result` and `function` as `tool`, `developer` as `system`.',
      { example: 'user' },
    ),
    from: nullable(text, 'The sender, if the role does not show it: `human`, another agent, a channel.', {
      example: 'human',
    }),
    kind: nullable(choice(MESSAGE_KINDS), 'The purpose of a message that the program wrote.', { example: 'last_turn' }),
    cause: nullable(text, 'The id of the note that the message brings.', { example: '9p01bpoiva' }),
    task: nullable(text, 'In a conversation that several tasks share: the task that starts here.', {
      example: 'summarise',
    }),
    pins: nullable(pins, 'With `kind: tools_changed`: what is sent before the messages from here on.', {
      example: '{system: 50a6830d, tools: 9c1185a5}',
    }),
    compacted: nullable(compacted, 'With `kind: compacted`: which messages the model no longer gets.', {
      example: '{up_to: 41, short_to: 60}',
    }),
    taint: nullable(
      z.array(text, { error: 'a list' }),
      'Outside sources that influenced this message through its sender, an attachment or an earlier result.',
      { example: '[slack/sarah]' },
    ),
    definition: nullable(text, 'The sha256 of the agent file from here on, if it changed since.', {
      example: '50a6830d',
    }),
    name: nullable(text, 'Of a tool result: the tool.', { example: 'read_file' }),
    tool_call_id: nullable(text, 'Of a tool result: the call that it answers.', { example: 'call_e9q2f61yby' }),
    is_error: nullable(flag, 'Of a tool result: the call did not succeed.', { example: 'true' }),
    code: nullable(
      named('code of a problem', choice(PROBLEM_CODES)),
      'Of a tool result: why the call did not succeed.',
      { example: 'not_found' },
    ),
    final: nullable(flag, 'Of a tool result: the call ended the task, and the content is its answer.', {
      example: 'true',
    }),
    private: nullable(text, 'Of a tool result that may contain a secret: its hash. The text is in `.guild/private`.', {
      example: '9f86d08…',
    }),
    content: nullable(z.unknown(), 'The text. A value that is not text is read as JSON.', {
      default: 'empty',
      example: 'Is Redis running?',
    }),
    tool_calls: nullable(z.array(toolCall, { error: 'a list' }), 'Of an assistant message: the tools it calls.', {
      example: '[{id: call_1, function: {name: read_file, arguments: {path: a.md}}}]',
    }),
    files: nullable(
      z.array(fileRef, { error: 'a list' }),
      'Images and PDF documents that the model can look at. Their bytes are in `storage/blobs/`, or in `.guild/private` if they are secret.',
      { example: '[{name: plan.png, media_type: image/png, blob: 7d0e43f1, bytes: 34810}]' },
    ),
    usage: nullable(usage, 'Of an assistant message: what the model call cost.', {
      example: '{model: openai/gpt-5, input_tokens: 137, output_tokens: 82}',
    }),
    provider: nullable(
      provider,
      'Of an assistant message: what its provider wants back with it, such as signed thoughts. Only that model gets it, and only while everything before it is unchanged.',
      { example: '{name: anthropic, model: claude-opus-5-5, message: 50a6830d, chain: 9c14f2aa, blob: 7d0e43f1}' },
    ),
    timestamp: nullable(
      text,
      'When it was written. It is the last key: a message of the program without it was cut off by a crash.',
      {
        example: '"2026-01-31T09:00:00.000Z"',
        spellings: ['ts'],
      },
    ),
  },
  mapping,
);

export const sessionYaml = z.looseObject(
  {
    session_id: nullable(text, 'The id of the conversation.', {
      default: 'the name of the file',
      example: 'planner-is-redis-running',
    }),
    agent_id: needed(text, 'The agent.', { example: 'planner', hint: 'add a line such as "agent_id: planner"' }),
    agent_type: nullable(text, 'The type of the agent.', { example: 'planner' }),
    model: nullable(text, 'The model of the agent.', { example: 'openai/gpt-5' }),
    definition: nullable(text, 'The sha256 of the agent file that the conversation started with.', {
      example: '50a6830d',
    }),
    pins: nullable(pins, 'The text and tools that every call sends before the messages.', {
      example: '{system: 50a6830d, tools: 9c1185a5}',
    }),
    created: nullable(text, 'When it was created.', { example: '"2026-01-31T09:00:00.000Z"' }),
    status: nullable(
      choice(SESSION_STATUSES),
      'Shown to people only; the engine goes by the state of the task. `sleeping`: it waits for a person.',
      {
        default: '`active`',
      },
    ),
    task: nullable(text, 'The task that it was created for.', { example: 'is-redis-running' }),
    forked_from: nullable(text, 'The conversation it is a copy of, and the number of messages that were copied.', {
      example: 'planner-1@4',
    }),
    kept: nullable(
      amount,
      'Written by a person who removed the end of the conversation on purpose: how many messages are left.',
      { example: '4' },
    ),
    messages: nullable(
      z.array(message, { error: 'a list' }),
      'The messages. It is the last key, and it only grows at its end.',
      {
        default: 'none',
        example: '[{role: user, content: "Is Redis running?"}]',
      },
    ),
  },
  { error: 'a mapping that ends with the list "messages"' },
);
