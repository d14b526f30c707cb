/** Tells a person outside of the terminal, once for all processes. */
export { notifyByCommand, notifyByWebhook, notifyDesktop } from './channels.js';
export { notifyLedger } from './ledger.js';
