/** A skill from its `SKILL.md`: frontmatter with a name and a description, then instructions. */
import { problem, type Problem } from '../../domain/problem.js';
import { isMapping } from '../../domain/mapping.js';
import { loadYaml } from '../yaml/parse.js';
import { splitFrontmatter } from './frontmatter.js';
import { loadLines } from './loose-yaml.js';

interface SkillRead {
  name: string;
  description: string;
  body: string;
  isHidden: boolean;
}

const KEYS = new Set(
  'name description license compatibility metadata allowed-tools argument-hint model version disable-model-invocation user-invocable'.split(
    ' ',
  ),
);
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
const MAX_DESCRIPTION = 1024;

/** `folder`: the name of its folder, which is the skill's name if the file has none. */
export function parseSkill(text: string, file: string, folder: string): SkillRead | Problem {
  const split = splitFrontmatter(text);
  const bad = (message: string, hint: string): Problem => problem('bad_file', message, { where: { file }, hint });
  if (split.kind !== 'found')
    return bad('this skill has no frontmatter', 'begin the file with name: and description: between two lines "---"');
  const source = { file, text, start: split.start, end: split.end };
  const yaml = loadYaml(source);
  const head = yaml.ok ? yaml.value : loadLines(source, KEYS);
  if (!isMapping(head))
    return yaml.ok ? bad('the frontmatter is not a mapping', 'write name: and description:') : yaml.problem;
  const name = String(head['name'] ?? folder).trim();
  const description = String(head['description'] ?? '').trim();
  if (!NAME.test(name))
    return bad(`${JSON.stringify(name)} cannot be the name of a skill`, 'use letters, digits and dashes');
  if (description === '') return bad('this skill has no description', 'say in one sentence when to use it');
  return {
    name,
    description: description.replace(/\s+/g, ' ').slice(0, MAX_DESCRIPTION),
    body: text.slice(split.body).trim(),
    isHidden: head['disable-model-invocation'] === true,
  };
}
