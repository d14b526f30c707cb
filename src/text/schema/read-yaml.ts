/** A whole YAML file, read against its schema. */
import type { Schema } from '../../schemas/about.js';
import type * as z from '../../schemas/zod.js';
import { YamlPlaces, loadYaml, wholeFile } from '../yaml/parse.js';
import { readValue, type Reading } from './read.js';

/** A file that holds nothing but comments reads as `empty`. */
export function readYaml<S extends Schema>(
  schema: S,
  file: string,
  text: string,
  empty: unknown = {},
): Reading<z.infer<S>> {
  const source = wholeFile(file, text);
  const yaml = loadYaml(source);
  if (yaml.ok) return readValue(schema, yaml.value ?? empty, new YamlPlaces(source));
  return { value: undefined, problems: [yaml.problem], ignored: [], where: () => ({ file }) };
}
