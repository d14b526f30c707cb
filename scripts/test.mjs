/** `npm test`: installs and builds what is missing, then runs every test. `npm test -- session` runs files whose path has that word. */
import { collectTests, runTests } from './run-tests.mjs';
import { fail, setup } from './setup.mjs';
import { systemPackages } from './system-packages.mjs';

setup({ build: true });
const words = process.argv.slice(2);
const files = collectTests(words);
if (files.length === 0)
  fail(words.length === 0 ? 'there are no tests' : `no test file has ${words.join(' or ')} in its path`);
if (!systemPackages() && process.env.CI === 'true') fail('tests that need these programs may not be skipped under CI');
process.exit(runTests(files));
