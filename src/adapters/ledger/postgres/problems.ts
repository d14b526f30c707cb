/** Explains an error of the database, and says what to do about it. */
import { INTERVALS } from '../../../domain/intervals.js';
import { problem, type Problem, ProblemError, problemError } from '../../../domain/problem.js';
import type { Address } from './address.js';

interface DatabaseError {
  code?: string;
  message?: string;
}

/** The server is away, starting, stopping or not the primary: another connection may help. */
const AWAY = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EAI_AGAIN'],
  ...['57P01', '57P02', '57P03', '25006', '53300'],
]);
/** Two commits conflicted, or the server has no disk space or memory for this one now. */
const AGAIN = new Set(['40P01', '40001', '23505', '53100', '53200', '57014', '58030']);
/** Errors of the client itself have no code. */
const LOST = /connection terminated|connection ended|timeout|not queryable|connection error/i;

/** `away`: the connection is useless now. `again`: only this call failed. Undefined: neither. */
export function retryOf(thrown: unknown): 'away' | 'again' | undefined {
  const { code, message = '' } = thrown as DatabaseError;
  if (code === undefined) return LOST.test(message) ? 'away' : undefined;
  if (AGAIN.has(code)) return 'again';
  return AWAY.has(code) || code.startsWith('08') ? 'away' : undefined;
}

/** An error that a retry does not cure, in one sentence with one next step. */
export function databaseProblem(thrown: unknown, { shown, schema }: Address): Error {
  if (thrown instanceof ProblemError) return thrown;
  const { code = '', message = String(thrown) } = thrown as DatabaseError;
  const made = (what: string, hint: string): Error => problemError('store_refused', what, { hint });
  // The client reports a missing password in its own words.
  const reason = /client password must be/.test(message) ? 'no password was given' : message;
  if (code === '28P01' || code === '28000' || /password|SASL|pg_hba/i.test(message)) {
    return made(
      `the database refused the log-in (${shown}): ${reason}`,
      'set PGPASSWORD or add a line to ~/.pgpass, and check the user in the address',
    );
  }
  if (code === '3D000') return made(`the database does not exist (${shown})`, 'create it with createdb');
  if (code === 'ENOTFOUND') return made(`no such host (${shown})`, 'check the address of the store');
  if (code === '3F000' || code === '42P01' || code === '42883') return new ProblemError(noSchema(shown));
  if (code === '42704') return made(`the roles of this workspace are missing (${shown})`, 'run guild store init');
  if (code === '42501') {
    return made(
      `the database user may not do this (${shown}): ${message}`,
      `grant the user the role it needs: ${schema}_worker to work, ${schema}_desk to publish and answer, ${schema}_reader to look`,
    );
  }
  return made(`the database reports an error (${shown}): ${message}`, 'run guild doctor');
}

export function noSchema(shown: string): Problem {
  return problem('store_refused', `there is no workspace in this database yet (${shown})`, {
    hint: 'run guild store init once, as a user who may create schemas and roles',
  });
}

export function storeAway(shown: string, thrown: unknown): ProblemError {
  const { message } = thrown as DatabaseError;
  return problemError('store_away', `the database does not answer (${shown}): ${message || 'no connection'}`, {
    hint: 'work continues by itself when it is back; nothing that was acknowledged is lost',
  });
}

export function pooled(shown: string): Problem {
  const later = `changes of other machines are seen up to ${INTERVALS.databaseLookMs} ms later`;
  return problem('store_refused', `the database is behind a pooler in transaction mode (${shown}): ${later}`, {
    hint: 'use session mode, or the address of the server itself',
  });
}

/** A failover lost commits that were acknowledged to this process. */
export function undone(shown: string): ProblemError {
  return problemError(
    'declared_dead',
    `the database lost changes that it had acknowledged to this process (${shown})`,
    {
      hint: 'a standby that was behind took over: this process starts again from what the database has',
    },
  );
}
