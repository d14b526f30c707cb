/** A whole YAML file, read against its schema. */
import type { Schema } from '../../schemas/about.js';
import type * as z from '../../schemas/zod.js';
import { YamlPlaces, loadYaml, wholeFile } from '../yaml/parse.js';
import { readValue, type Reading } from './read.js';

/** A file that holds nothing but comments is an empty mapping. `hint` is for a file that is not a mapping. */
export function readYaml<S extends Schema>(schema: S, file: string, text: string, hint?: string): Reading<z.infer<S>> {
  const source = wholeFile(file, text);
  const yaml = loadYaml(source);
  if (!yaml.ok) return { value: undefined, problems: [yaml.problem], ignored: [] };
  const reading = readValue(schema, yaml.value ?? {}, new YamlPlaces(source));
  if (reading.value !== undefined || hint === undefined) return reading;
  return { ...reading, problems: reading.problems.map((each) => ({ hint, ...each })) };
}
