/** What commands need for a workspace on several machines. */
export { initStore, upgradeStore, type Made } from '../../adapters/ledger/postgres/make-store.js';
