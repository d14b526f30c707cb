/**
 * Recognises a tool call that a model wrote as text instead of making it, as small models do: JSON
 * in a code block, `<tool_call>` tags, `read_file(path="a.md")` on a separate line. Only names of
 * tools that the agent has count, so that an answer about JSON is not mistaken for a call.
 */
import { literalPattern } from '../../domain/literal-pattern.js';

export function callAsText(text: string, tools: readonly string[]): string | undefined {
  const known = tools.filter((name) => text.includes(name)).map(literalPattern);
  if (known.length === 0) return undefined;
  const name = `(${known.join('|')})`;
  return FORMS.map((form) => new RegExp(form.replace('NAME', name), 'm').exec(text)?.[1]).find((found) => found);
}

const FORMS = [
  // {"tool": "read_file", …}: the name as a value
  '"(?:tool|tool_name|name|function|function_name|action|recipient_name)"\\s*:\\s*"(?:functions\\.)?NAME"',
  // {"read_file": {…}} as a whole block
  '^\\s*\\{\\s*"NAME"\\s*:\\s*\\{',
  // <tool_call>read_file …, <function=read_file>, <invoke name="read_file">, <read_file>
  '<(?:tool_call|function_call|function|invoke|tool)\\b[^>]*>?[\\s"\'={]*(?:name\\s*[=:]\\s*)?["\']?(?:functions\\.)?NAME\\b',
  '^\\s*<NAME(?:\\s[^>]*)?>',
  // [TOOL_CALLS] read_file, <|tool_call|> read_file
  '(?:\\[TOOL_CALLS?\\]|<\\|[\\w▁｜ ]*\\|>)[\\s\\[{"\':a-z]*?NAME\\b',
  // read_file({…}), read_file(path="a.md") on a separate line
  '^\\s*(?:functions\\.|print\\()?NAME\\s*\\((?:\\s*[{\'"]|\\s*\\w+\\s*=|\\s*\\)\\s*$)',
];
