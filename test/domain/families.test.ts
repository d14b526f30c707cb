import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptedSettings, settingWarnings } from '../../src/domain/config/families.js';

const SAMPLING = { temperature: 0.2, topP: 0.9, topK: 5 };

test('each family keeps the settings that it accepts', () => {
  const kept = (model: string, more = {}) => Object.keys(acceptedSettings(model, { ...SAMPLING, ...more })).join(' ');
  assert.equal(kept('claude-opus-5-5'), '');
  assert.equal(kept('anthropic/claude-fable-5-1'), '');
  assert.equal(kept('us.anthropic.claude-opus-4-7-v1:0'), '', 'also at Bedrock');
  assert.equal(kept('claude-opus-4-6'), 'temperature topP topK');
  assert.equal(kept('claude-haiku-4-5'), 'temperature topP topK');
  assert.equal(kept('gpt-6-sol'), '');
  assert.equal(kept('gpt-6-sol', { reasoning: 'none' }), 'temperature topP reasoning');
  assert.equal(kept('gpt-6.1-sol', { reasoning: 'none' }), 'reasoning');
  assert.equal(kept('gpt-5'), '');
  assert.equal(kept('gpt-4.1'), 'temperature topP');
  assert.equal(kept('mistral-small-2603'), 'temperature topP');
  assert.equal(kept('qwen3:8b'), 'temperature topP topK');
});

test('a warning names the setting, the model and what happens', () => {
  assert.deepEqual(settingWarnings('anthropic/claude-opus-5-5', { temperature: 0.2, reasoning: 'none' }), [
    'Claude Fable, Opus 5.5 and Sonnet 5.5 refuse temperature, so it is left out for anthropic/claude-opus-5-5',
    'reasoning cannot be turned off for anthropic/claude-opus-5-5, so it gets the lowest level',
  ]);
  assert.deepEqual(settingWarnings('deepseek/deepseek-flash', { temperature: 0.2 }), [
    'temperature has no effect while deepseek/deepseek-flash thinks; reasoning: none turns that off',
  ]);
  assert.deepEqual(settingWarnings('openai/gpt-6-sol', { reasoning: 'high', maxTokens: 5 }), []);
});
