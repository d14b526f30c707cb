/** Functions for the commands of a workspace on several machines. */
export { initStore, upgradeStore, type Made } from '../../adapters/ledger/postgres/make-store.js';
export { startLocalPostgres, type LocalPostgres } from '../../adapters/ledger/postgres/local-server.js';
