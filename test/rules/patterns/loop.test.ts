/** The loop guard: it notices repetition, and nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../../src/domain/session/session.js';
import { loopIn } from '../../../src/rules/patterns/loop.js';

let ids = 0;
function turn(name: string, args: Record<string, unknown>, result: string): Message[] {
  const id = `c${++ids}`;
  return [
    { role: 'assistant', content: '', toolCalls: [{ id, name, arguments: args }] },
    { role: 'tool', content: result, toolCallId: id },
  ];
}
const ask: Message = { role: 'user', content: 'find it' };
const changes = (name: string): boolean => name === 'write_file';
const read = (path: string, result: string): Message[] => turn('read_file', { path }, result);

test('the same call with the same result three times in a row is a loop', () => {
  const twice = [ask, ...read('a', 'x'), ...read('a', 'x')];
  assert.equal(loopIn(twice, changes), undefined);
  const loop = loopIn([...twice, ...read('a', 'x')], changes);
  assert.match(loop!.what, /read_file with the same arguments/);
  assert.equal(loop!.warned, false);
});

test('different results or different arguments are not a loop', () => {
  assert.equal(loopIn([ask, ...read('a', 'x'), ...read('a', 'y'), ...read('a', 'x')], changes), undefined);
  assert.equal(loopIn([ask, ...read('a', 'x'), ...read('b', 'x'), ...read('a', 'x')], changes), undefined);
});

test('a message from outside resets the count', () => {
  const messages = [ask, ...read('a', 'x'), ...read('a', 'x'), ask, ...read('a', 'x')];
  assert.equal(loopIn(messages, changes), undefined);
});

test('eight turns of the same three calls are a loop if none of them can change anything', () => {
  const round = (name: string): Message[] =>
    [...'ababcaba'].flatMap((path) => turn(name, { path }, `content of ${path}`));
  assert.match(loopIn([ask, ...round('read_file')], changes)!.what, /repeatedly/);
  assert.equal(loopIn([ask, ...round('write_file')], changes), undefined);
  assert.equal(loopIn([ask, ...[...'abcdefgh'].flatMap((path) => read(path, 'x'))], changes), undefined);
});

test('a loop that continues after a warning is marked as warned', () => {
  const warned: Message = { role: 'user', content: 'you repeat yourself', kind: 'loop_warning' };
  const before = [ask, ...read('a', 'x'), ...read('a', 'x'), ...read('a', 'x'), warned];
  assert.equal(loopIn([...before, ...read('a', 'x')], changes)!.warned, true);
  assert.equal(loopIn([...before, ...read('b', 'x')], changes), undefined);
});

test('only the last turns are looked at, however long the conversation is', () => {
  const old: Message[] = Array.from({ length: 10_000 }, (_, i) => read(`f${i}`, 'x')).flat();
  let touched = 0;
  const counted = new Proxy([...old, ...read('a', 'x')], {
    get(target, key, self) {
      if (typeof key === 'string' && /^\d+$/.test(key)) touched++;
      return Reflect.get(target, key, self) as unknown;
    },
  });
  loopIn(counted, changes);
  assert.ok(touched < 40, `${touched} messages were looked at`);
});
