/** The modules that `guild ui` loads when it starts: they stay in memory all day. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../kit/guild.js';

test('a window loads neither the engine that works nor clients of models', () => {
  const loaded = loadedBy(path.join(ROOT, 'dist/src/cli/commands/ui/index.js'));
  assert.ok(loaded.includes('web/server.js') && loaded.length > 100, `${loaded.length} modules are loaded`);
  const heavy = loaded.filter((file) =>
    /^engine\/pass\/|^adapters\/models\/[^/]+\/index|^app\/open-workspace/.test(file),
  );
  assert.deepEqual(heavy, []);
});

/** Compiled modules that are imported when this one is, without those of a later `import()`. */
function loadedBy(start: string): string[] {
  const files = new Set([start]);
  for (const file of files)
    for (const [, target] of fs
      .readFileSync(file, 'utf8')
      .matchAll(/^(?:import|export)\b(?:[^;'"]*?\bfrom)?\s*['"](\.[^'"]+)['"]/gm))
      files.add(path.resolve(path.dirname(file), target!));
  return [...files].map((file) => path.relative(path.join(ROOT, 'dist/src'), file));
}
