/** Reference pages for files: one table for each mapping, with every key of it. */
import { load } from 'js-yaml';
import { ABOUT } from '../../dist/src/schemas/about.js';
import { KINDS, PUBLISHED } from './kinds.mjs';
import { code, notice, page, table } from './markdown.mjs';

export function keyPages() {
  return KINDS.filter(({ page: file }) => file !== undefined).map((kind) => [
    `docs/reference/${kind.page}`,
    keyPage(kind),
  ]);
}

function keyPage({ schema, json, title, about, more, labels, format, parts = [] }) {
  const published = `${PUBLISHED}${json}`;
  const modeline = `Editors with the YAML language server check the file if it begins with this line:

\`\`\`yaml
# yaml-language-server: $schema=${published}
\`\`\``;
  const editor = [`JSON Schema: [schemas/${json}](../../schemas/${json}), published as <${published}>.`];
  if (title.includes('.yaml') || title.includes('Scripts')) editor.push(modeline);
  const others = parts.flatMap((part) => [`## ${part.heading}`, part.about, ...tables(part.schema, {}, part.omit)]);
  const own = tables(schema, labels, {}, format);
  return page(notice('src/schemas'), `# ${title}`, about, more, ...editor, ...own, ...others);
}

/** `omit` are keys that another table of the page has. */
function tables(schema, labels = {}, omit = {}, format = 'yaml') {
  const sections = new Map();
  for (const { path, shape } of mappingsIn(schema, '', omit)) {
    const [from, to] = Object.entries(labels).find(([start]) => path.startsWith(start)) ?? ['', ''];
    if (!sections.has(shape)) sections.set(shape, to + path.slice(from.length));
  }
  return [...sections].map(([shape, path]) => {
    const heading = path === '' ? '' : `## ${code(path)}\n\n`;
    const keys = Object.entries(shape).filter(([key, inner]) => inner !== omit[key]);
    return `${heading}${keyTable(keys, path, sections, format)}`;
  });
}

function keyTable(keys, path, sections, format) {
  const rows = keys.flatMap(([key, schema]) => {
    const type = typeText(schema, sections);
    if (type === REFUSED) return [];
    const { description, spellings = [], default: fallback, example } = ABOUT.get(schema) ?? {};
    if (description === undefined) throw new Error(`${join(path, key)} has no description`);
    const others = spellings.map(code).join(', ');
    const meaning = `${description}${others === '' ? '' : ` Also read as ${others}.`}`;
    const shown = example ?? (fallback === '`false`' ? 'true' : /^`(.*)`$/.exec(fallback ?? '')?.[1]);
    if (shown === undefined) throw new Error(`${join(path, key)} has neither an example nor a literal default`);
    const isRequired = schema._zod.optin === undefined;
    return [[code(key), type, isRequired ? 'required' : (fallback ?? '–'), meaning, code(written(key, shown, format))]];
  });
  return table(['key', 'type', 'default', 'meaning', 'example'], rows);
}

function written(key, example, format) {
  return format === 'json' ? `"${key}": ${JSON.stringify(load(example))}` : `${key}: ${example}`;
}

/** The mappings with keys of their own inside a schema, outermost first. */
function mappingsIn(schema, path, omit) {
  const def = schema._zod.def;
  if (def.innerType) return mappingsIn(def.innerType, path, omit);
  if (def.options) return def.options.flatMap((option) => mappingsIn(option, path, omit));
  if (def.element) return mappingsIn(def.element, `${path}[]`, omit);
  if (def.valueType) return mappingsIn(def.valueType, join(path, '<name>'), omit);
  if (def.shape === undefined) return [];
  const own = Object.entries(def.shape).filter(([key, inner]) => inner !== omit[key]);
  return [{ path, shape: def.shape }, ...own.flatMap(([key, value]) => mappingsIn(value, join(path, key), omit))];
}

function typeText(schema, sections) {
  const def = schema._zod.def;
  if (def.innerType) return typeText(def.innerType, sections);
  if (def.shape !== undefined) return `[mapping](#${anchor(sections.get(def.shape))})`;
  const { type } = ABOUT.get(schema) ?? {};
  if (type !== undefined) return type;
  if (def.options) {
    const types = def.options.filter((option) => option._zod.def.type !== 'null');
    return [...new Set(types.map((option) => typeText(option, sections)))].join(' or ');
  }
  if (def.element) return `list: ${typeText(def.element, sections)}`;
  if (def.valueType) return `mapping: name to ${typeText(def.valueType, sections)}`;
  if (def.type === 'enum') return Object.values(def.entries).map(code).join(' or ');
  if (def.type === 'literal') return def.values.map((value) => code(String(value))).join(' or ');
  return TYPES[def.type] ?? def.type;
}

const REFUSED = 'refused';
const TYPES = { string: 'text', number: 'number', boolean: 'true or false', unknown: 'any value', never: REFUSED };

/** As GitHub derives it from a heading. */
function anchor(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

function join(path, key) {
  return path === '' ? key : `${path}.${key}`;
}
