import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelSettings } from '../../../src/domain/agent/agent.js';
import type { Config, ModelAlias } from '../../../src/domain/config/config.js';
import { resolveModels } from '../../../src/rules/scheduling/models.js';

const alias = (models: string[], settings: ModelSettings = {}): ModelAlias => ({ models, settings });

function resolve(
  models: string[],
  config: Partial<Pick<Config, 'model' | 'aliases' | 'providers'>> = {},
  settings: ModelSettings = {},
) {
  const agent = { name: 'a', models, settings, file: 'agents/a.md' };
  return resolveModels(agent, { model: 'openai/gpt-5', aliases: {}, providers: {}, ...config });
}

function names(models: string[], config: Parameters<typeof resolve>[1] = {}): string[] {
  const resolved = resolve(models, config);
  assert.ok('models' in resolved, JSON.stringify(resolved));
  return resolved.models;
}

function problemOf(models: string[], config: Parameters<typeof resolve>[1] = {}) {
  const resolved = resolve(models, config);
  assert.ok('code' in resolved, JSON.stringify(resolved));
  return resolved;
}

test('an agent that names no model, or inherits, gets the default', () => {
  assert.deepEqual(names([]), ['openai/gpt-5']);
  assert.deepEqual(names(['inherit']), ['openai/gpt-5']);
  assert.deepEqual(names([], { model: 'fast', aliases: { fast: alias(['haiku']) } }), ['anthropic/claude-haiku-5-5']);
  assert.match(problemOf(['inherit'], { model: '' }).message, /no model is set/);
  assert.equal(problemOf(['inherit'], { model: 'inherit' }).code, 'unknown_model');
});

test('well-known bare names get their provider', () => {
  const table: Record<string, string> = {
    'gpt-5': 'openai/gpt-5',
    o3: 'openai/o3',
    'o4-mini': 'openai/o4-mini',
    'claude-sonnet-4.5': 'anthropic/claude-sonnet-4-5',
    sonnet: 'anthropic/claude-sonnet-5-5',
    fable: 'anthropic/claude-fable-5-1',
    'gemini-2.5-pro': 'google/gemini-2.5-pro',
    'llama3.2:3b': 'ollama/llama3.2:3b',
    'openai:gpt-5': 'openai/gpt-5',
    'openrouter/meta-llama/llama-4': 'openrouter/meta-llama/llama-4',
    scripted: 'scripted/script',
  };
  for (const [name, full] of Object.entries(table)) assert.deepEqual(names([name]), [full]);
});

test('aliases expand into lists, nested ones too, without duplicates and in order', () => {
  const aliases = {
    smart: alias(['opus', 'gpt-5']),
    all: alias(['fast', 'smart', 'gpt-5']),
    fast: alias(['ollama/qwen']),
  };
  assert.deepEqual(names(['all'], { aliases }), ['ollama/qwen', 'anthropic/claude-opus-5-5', 'openai/gpt-5']);
  assert.deepEqual(names(['smart', 'fast'], { aliases }), ['anthropic/claude-opus-5-5', 'openai/gpt-5', 'ollama/qwen']);
});

test('an alias may have the name of a model and hide it', () => {
  assert.deepEqual(names(['sonnet'], { aliases: { sonnet: alias(['openrouter/anthropic/sonnet']) } }), [
    'openrouter/anthropic/sonnet',
  ]);
});

test('the nearest settings win: the agent, then the outer alias, then the inner', () => {
  const aliases = {
    outer: alias(['inner'], { temperature: 0.5 }),
    inner: alias(['gpt-5'], { temperature: 0.1, maxTokens: 100, topP: 1 }),
  };
  const resolved = resolve(['outer'], { aliases }, { topP: 0.2 });
  assert.deepEqual(resolved, { models: ['openai/gpt-5'], settings: { temperature: 0.5, maxTokens: 100, topP: 0.2 } });
});

test('an alias that leads back to itself is reported with the whole cycle', () => {
  const found = problemOf(['a'], { aliases: { a: alias(['gpt-5', 'b']), b: alias(['a']) } });
  assert.equal(found.code, 'cycle');
  assert.match(found.message, /a → b → a/);
  assert.equal(found.where?.file, 'agents/a.md');
});

test('a default that is its own alias does not loop', () => {
  assert.equal(problemOf([], { model: 'x', aliases: { x: alias(['inherit']) } }).code, 'cycle');
});

test('an unknown model is reported with the nearest name', () => {
  assert.deepEqual(problemOf(['opnai/gpt-5']).hint, 'did you mean "openai"?');
  assert.deepEqual(problemOf(['fsat'], { aliases: { fast: alias(['gpt-5']) } }).hint, 'did you mean "fast"?');
  assert.match(problemOf(['openai']).message, /is a provider, not a model/);
  assert.match(problemOf(['quux']).hint!, /provider\/model/);
  for (const odd of ['__proto__', 'constructor/x', 'toString']) assert.equal(problemOf([odd]).code, 'unknown_model');
});

test('providers of the workspace are known', () => {
  const providers = { corp: { kind: 'openai-compatible' as const, baseUrl: 'https://llm.corp/v1' } };
  assert.deepEqual(names(['corp/big'], { providers }), ['corp/big']);
});

test('bids and goal checks use their own model and settings; the rest is as for the work', () => {
  const agent = {
    ...{ name: 'a', models: ['gpt-5'], settings: { temperature: 0.9 }, file: 'agents/a.md' },
    evaluator: { temperature: 0, maxTokens: 50 },
    metacognition: { model: 'judge' },
  };
  const config = { model: 'openai/gpt-5', aliases: { judge: alias(['haiku'], { temperature: 0.2 }) }, providers: {} };
  const as = (role?: string) => resolveModels(agent, config, role);
  for (const role of [undefined, 'work', 'root', 'call', 'member'])
    assert.deepEqual(as(role), { models: ['openai/gpt-5'], settings: { temperature: 0.9 } }, role);
  assert.deepEqual(as('bid'), { models: ['openai/gpt-5'], settings: { temperature: 0, maxTokens: 50 } });
  assert.deepEqual(as('check'), { models: ['anthropic/claude-haiku-5-5'], settings: { temperature: 0.2 } });
  const lost = resolveModels({ ...agent, metacognition: { model: 'gpt5x' } }, config, 'check');
  assert.ok('code' in lost && lost.where?.file === 'agents/a.md', JSON.stringify(lost));
});
