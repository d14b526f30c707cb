/** Every setting states whether a person must see it before it takes effect. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { guildYaml } from '../../src/schemas/guild-yaml.js';
import { ROOT } from '../kit/guild.js';

test('the page about trust says of every setting whether it is asked about', () => {
  const page = fs.readFileSync(path.join(ROOT, 'docs/how-to/open-somebody-elses-workspace.md'), 'utf8');
  const table = page.split('## Which settings are asked about')[1]!.split('\n## ')[0]!;
  for (const key of Object.keys(guildYaml.shape))
    assert.ok(table.includes(`\`${key}\``) || table.includes(`\`${key}: `), key);
});
