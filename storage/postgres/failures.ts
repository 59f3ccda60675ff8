// What an error of the driver or the server means.
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';

/** Errors of sockets, and of the driver when the connection ends. */
const LOST = new Set([
  'ERR_CONNECTION',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // The server is shut down, has crashed, or is starting.
  '57P01',
  '57P02',
  '57P03',
  // A standby, or a primary that has become one.
  '25006',
]);
const LOST_TEXTS = /Connection terminated|connection error|timeout expired|Client was closed|server closed/i;

/** Whether a connection is of no use any more: another attempt, or another host, may succeed. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionLost);
  const code = errorCode(error);
  if (code !== undefined && (LOST.has(code) || /^08/.test(code))) return true;
  return error instanceof Error && code === undefined && LOST_TEXTS.test(error.message);
}

/** What to do about errors whose message does not say so, by SQLSTATE. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'set PGPASSWORD, or write the password to ~/.pgpass',
  '28000': 'pg_hba.conf of the server must let this user and address in',
  '3D000': 'create it with `createdb`',
  '42501': 'grant the user CREATE on the database, or USAGE and all privileges on the schema and its tables',
  '53300': 'raise max_connections of the server',
};

/** The error of the kit for an error of the driver. Its message has no password. */
export function storageFailure(shown: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StorageError) return error;
  const code = errorCode(error);
  if (isConnectionLost(error))
    return new StorageError(`the database ${shown} cannot be reached: ${messageOf(error)}`, { cause: error });
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code)) return error;
  const remedy = REMEDIES[code];
  return new StorageError(
    `the database ${shown} refuses: ${messageOf(error)}${remedy === undefined ? '' : `; ${remedy}`}`,
    { cause: error },
  );
}
