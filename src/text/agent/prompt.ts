/**
 * The body of an agent file. Usually all of it is the system prompt. The headings `# System Prompt`
 * and `# User Prompt Template` outside code fences divide it; any other heading is ordinary text.
 */
interface Prompts {
  system: string;
  user?: string;
}

export function splitPrompts(body: string): Prompts {
  const marks = findHeadings(body);
  const system = marks.find((mark) => mark.kind === 'system');
  const user = marks.find((mark) => mark.kind === 'user');
  const until = (mark: Heading): number => marks.find((other) => other.start > mark.start)?.start ?? body.length;
  const prompts: Prompts = {
    system: (system ? body.slice(system.end, until(system)) : body.slice(0, user?.start ?? body.length)).trim(),
  };
  if (user !== undefined) prompts.user = body.slice(user.end, until(user)).trim();
  return prompts;
}

/**
 * Replaces `{{name}}` with its value. Unknown names stay as they are, and so do `${{ … }}` and
 * names in inline code, which only mention a placeholder. Values are not expanded: they may come
 * from outside.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(VARIABLES, (whole, dollar: string | undefined, name: string | undefined) =>
    name !== undefined && dollar === '' && Object.hasOwn(values, name) ? values[name]! : whole,
  );
}

const VARIABLES = /`[^`\n]*`|(\$?)\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}/g;

/** The variables of a prompt that are not among `known`, as they are written. */
export function unknownVariables(template: string, known: ReadonlySet<string>): { name: string; text: string }[] {
  return [...template.matchAll(VARIABLES)].flatMap(({ 0: text, 1: dollar, 2: name }) =>
    name === undefined || dollar !== '' || known.has(name) ? [] : [{ name, text }],
  );
}

/** Filled in by the program in every prompt. */
export const BUILT_IN_VARIABLES = ['tool_descriptions', 'date', 'name', 'agents', 'capabilities', 'workspace'];

interface Heading {
  kind: 'system' | 'user';
  start: number;
  end: number;
}

const LONGEST_HEADING = 100;

function findHeadings(body: string): Heading[] {
  const headings: Heading[] = [];
  let fence = '';
  for (const { 0: line, index } of body.matchAll(/.*(?:\n|$)/g)) {
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)/.exec(line);
    if (mark !== null) {
      const [, run, rest] = mark as unknown as [string, string, string];
      if (fence === '') fence = run;
      else if (run[0] === fence[0] && run.length >= fence.length && rest.trim() === '') fence = '';
      continue;
    }
    if (fence !== '' || line.length > LONGEST_HEADING) continue;
    const heading = /^#[ \t]+(system prompt|user prompt(?: template)?)[ \t]*#*\s*$/i.exec(line);
    if (heading === null) continue;
    const kind = heading[1]!.toLowerCase().startsWith('system') ? 'system' : 'user';
    headings.push({ kind, start: index, end: index + line.length });
  }
  return headings;
}
