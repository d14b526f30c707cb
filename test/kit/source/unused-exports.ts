/**
 * Exports that no other file uses, or that only tests use. An export that the package publishes
 * counts as used.
 */
import type { Source } from './parse.js';

interface Unused {
  file: string;
  line: number;
  name: string;
  isType: boolean;
  /** Tests or benchmarks use it, and nothing else does. */
  byTests: boolean;
  /** Its own file uses it, so it only loses the word export. */
  isUsedHere: boolean;
}

/** The library, what bin/guild.mjs loads, and modules that are imported by a computed path. */
const PUBLIC = /^(src\/app\/index\.ts|src\/cli\/main\.ts|bench\/(peers|variants)\/.*|scripts\/generate\.mjs)$/;

const REPORTED = /^(src|web|test|bench|scripts)\//;

/** `sources` has everything that may use an export. */
export function unusedExports(sources: readonly Source[]): Unused[] {
  const uses = new Map<string, { byTests: boolean; byOthers: boolean }>();
  const exportsOf = new Map(sources.map(({ file, exports }) => [file, exports.map(({ name }) => name)]));
  for (const { file, imports } of sources) {
    const isTest = isOfTests(file);
    for (const { from, names } of imports)
      for (const name of names === 'all' ? (exportsOf.get(from) ?? []) : names) {
        const before = uses.get(`${from} ${name}`) ?? { byTests: false, byOthers: false };
        uses.set(`${from} ${name}`, { byTests: before.byTests || isTest, byOthers: before.byOthers || !isTest });
      }
  }
  return sources
    .filter(({ file }) => REPORTED.test(file) && !PUBLIC.test(file))
    .flatMap(({ file, exports }) =>
      exports.flatMap(({ name, line, isType, isUsedHere }) => {
        const { byTests, byOthers } = uses.get(`${file} ${name}`) ?? { byTests: false, byOthers: false };
        if (byOthers || (byTests && isOfTests(file))) return [];
        return [{ file, line, name, isType, byTests, isUsedHere }];
      }),
    );
}

export function placeOf({ file, line, name, isUsedHere }: Unused): string {
  return `${file}:${line}: ${name}${isUsedHere ? '' : ', which its own file does not use either'}`;
}

function isOfTests(file: string): boolean {
  return /^(test|bench)\//.test(file);
}
