/**
 * Exports that no other file uses, or that only tests use. An export that the package publishes
 * counts as used.
 */
import type { Source } from './parse.js';

export interface Unused {
  file: string;
  line: number;
  name: string;
  isType: boolean;
  /** Tests use it, and nothing else does. */
  byTests: boolean;
  /** Its own file uses it, so it only loses the word export. */
  isUsedHere: boolean;
}

/** The library, and what bin/guild.mjs loads. */
const PUBLIC: readonly string[] = ['src/app/index.ts', 'src/cli/main.ts'];

/** `sources` has everything that may use an export; only exports of src are reported. */
export function unusedExports(sources: readonly Source[]): Unused[] {
  const uses = new Map<string, { byTests: boolean; byOthers: boolean }>();
  const exportsOf = new Map(sources.map(({ file, exports }) => [file, exports.map(({ name }) => name)]));
  for (const { file, imports } of sources) {
    const isTest = file.startsWith('test/');
    for (const { from, names } of imports)
      for (const name of names === 'all' ? (exportsOf.get(from) ?? []) : names) {
        const before = uses.get(`${from} ${name}`) ?? { byTests: false, byOthers: false };
        uses.set(`${from} ${name}`, { byTests: before.byTests || isTest, byOthers: before.byOthers || !isTest });
      }
  }
  return sources
    .filter(({ file }) => file.startsWith('src/') && !PUBLIC.includes(file))
    .flatMap(({ file, exports }) =>
      exports.flatMap(({ name, line, isType, isUsedHere }) => {
        const { byTests, byOthers } = uses.get(`${file} ${name}`) ?? { byTests: false, byOthers: false };
        return byOthers ? [] : [{ file, line, name, isType, byTests, isUsedHere }];
      }),
    );
}
