/** The block that every system prompt ends with: only the lines that apply, and no task in it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orientation, type OrientationFacts } from '../../../src/rules/prompts/orientation.js';
import { agent } from '../../kit/rule-play.js';

const FACTS: OrientationFacts = {
  agent: agent('planner', { agents: ['executor'] }),
  tools: [],
  now: new Date('2026-11-16T23:30:00Z'),
  timeZone: 'Europe/Berlin',
  system: 'Linux',
  workspace: 'office',
  agents: [
    agent('planner'),
    agent('executor', { description: 'Does one piece of work', capabilities: ['execution', 'writing'] }),
    agent('evaluator', { description: 'Checks a result' }),
  ],
  reads: [],
  writes: [],
  answersInText: false,
};
const block = (more: Partial<OrientationFacts>): string => orientation({ ...FACTS, ...more });

test('it says who, and what day it is where the workspace is', () => {
  assert.match(
    block({}),
    /^You are the agent "planner" in a Guildhall workspace\. Today is Tuesday, 17 November 2026 \(Europe\/Berlin\)\.\n/,
  );
});

test('an agent without tools reads nothing about files, agents or channels', () => {
  assert.doesNotMatch(block({}), /Paths|ask \(|channels|Linux/);
});

test('it says what may be written where', () => {
  const writer = block({ tools: ['read_file', 'write_file'] });
  assert.match(writer, /Paths are relative to the workspace\. You may read everything in it except secrets\./);
  assert.match(writer, /write in workspaces\/planner\/ and scratch\/planner\/ without asking/);
  assert.match(writer, /Every other write is shown to a person first/);
  const runner = block({ tools: ['execute_command'] });
  assert.match(runner, /The system is Linux\./);
  assert.match(runner, /in file tools and in commands/);
  assert.match(
    runner,
    /only reads runs at once\. Every other command is shown to a person first.* Without approval, a command can write only in workspaces\/planner\/ and scratch\/planner\/; once approved, anywhere in the workspace/,
  );
});

test('it lists whom the agent can ask, with what they can do', () => {
  assert.match(
    block({ tools: ['delegate_to_agent'] }),
    /Agents you can ask \(delegate_to_agent\):\n- executor: Does one piece of work \[execution, writing\]\nThey have not seen/,
  );
  assert.match(
    block({ tools: ['delegate_to_agent', 'create_task'] }),
    /- executor.*\n- evaluator: Checks a result\nWith delegate_to_agent you reach only: executor\.\n/,
  );
  assert.match(
    block({ tools: ['send_message'] }),
    /^Agents you can write to while they work \(send_message\):\n- exec/m,
  );
  assert.doesNotMatch(block({ tools: ['create_task', 'send_message'] }), /send_message|reach only/);
});

test('channels are named to those who read or may write them', () => {
  assert.match(block({ reads: ['news'] }), /notes from these channels: news\./);
  assert.match(block({ tools: ['broadcast'], writes: ['ops'] }), /post on these channels with broadcast: ops\./);
  assert.doesNotMatch(block({ writes: ['ops'] }), /ops/);
});

test('it says how to finish', () => {
  assert.match(block({ tools: ['final_report'] }), /To finish, call final_report\..*success: false/);
  assert.match(
    block({ tools: ['final_report', 'broadcast'], answersInText: true }),
    /turn ends when you broadcast, vote or answer in plain text\. The others see only what you broadcast/,
  );
  assert.match(block({ answersInText: true }), /The others read your answer\.$/);
  assert.match(block({ requiredTool: 'place_bid' }), /answer with one call of place_bid and nothing else/);
});
