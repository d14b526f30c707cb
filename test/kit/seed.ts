/**
 * Everything random in the tests follows from this number. `SEED=…` repeats a run. The test script
 * sets it for all files and prints it; a file that runs alone chooses its own.
 */
export const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

/** `npm run test:all`: suites leave nothing out. */
export const EVERYTHING = process.env['TEST_TIER'] === 'all';
