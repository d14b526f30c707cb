/** Runs the ledger contract on every back end. */
import { ledgerState, memoryLedger } from '../../src/adapters/ledger/memory.js';
import { ledgerContract } from './ledger.js';

ledgerContract('memory', () => {
  const state = ledgerState();
  return { open: async () => memoryLedger(state) };
});
