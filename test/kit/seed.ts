/**
 * The number that everything random in the tests follows from. `SEED=…` plays a run again. Under CI it is always the same, so that whether a change is
 * let in depends on the change; on a person's machine it is another each time, and what is found there is told with its seed.
 */
export const SEED = Number(process.env['SEED'] ?? (process.env['CI'] === 'true' ? 20_261 : Date.now() % 1_000_000));
