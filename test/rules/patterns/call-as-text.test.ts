/** A tool call that a model writes as text is recognised; an answer about tools is not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callAsText } from '../../../src/rules/patterns/call-as-text.js';

const TOOLS = ['read_file', 'final_report', 'mcp.search'];

const CALLS: Record<string, string> = {
  'JSON in a code block': '```json\n{"tool": "read_file", "args": {"path": "a.md"}}\n```',
  'JSON as OpenAI writes it': '{"name": "read_file", "arguments": {"path": "a.md"}}',
  'JSON with the tool as its key': 'Let me look:\n```\n{\n  "read_file": {"path": "a.md"}\n}\n```',
  'Hermes tags': '<tool_call>\n{"name": "read_file", "arguments": {}}\n</tool_call>',
  'Llama tags': '<function=read_file>{"path": "a.md"}</function>',
  'XML as some prompts teach it': '<invoke name="read_file">\n<parameter name="path">a.md</parameter>\n</invoke>',
  'a tag with the name of the tool': 'I will look.\n<read_file>\n<path>a.md</path>\n</read_file>',
  'Mistral tokens': '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a.md"}}]',
  'a Python call': '```tool_code\nread_file(path="a.md")\n```',
  'a call with an object': 'functions.read_file({"path": "a.md"})',
};

for (const [form, text] of Object.entries(CALLS))
  test(`recognised: ${form}`, () => assert.equal(callAsText(text, TOOLS), 'read_file'));

const ANSWERS: Record<string, string> = {
  'prose about a tool': 'I used read_file to look at a.md, and read_file (the tool) worked.',
  'a list of tools': '- `read_file`: reads a file\n- `final_report`: ends the task',
  'JSON about something else': '{"name": "Redis", "arguments": {"port": 6379}}',
  'a tool that the agent does not have': '{"tool": "write_file", "args": {}}',
  'code of the same shape': '```python\nwrite(path="a.md")\n```',
  nothing: '',
};

for (const [form, text] of Object.entries(ANSWERS))
  test(`not a call: ${form}`, () => assert.equal(callAsText(text, TOOLS), undefined));

test('names with special characters are matched as they are', () => {
  assert.equal(callAsText('{"tool": "mcp.search"}', TOOLS), 'mcp.search');
  assert.equal(callAsText('{"tool": "mcpxsearch"}', TOOLS), undefined);
});
