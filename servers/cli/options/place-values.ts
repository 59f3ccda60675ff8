// The values of options that name a database or a place. Their checks load zod, which the descriptions need not.
import { requireDatabaseUrl, requirePublishPlace, ValueError } from '../../../protocols/config/values.js';
import { UsageError } from '../../../protocols/errors.js';

/**
 * The value of `--store`.
 *
 * @throws UsageError without the URL, which may have a password
 */
export function storeUrlOf(url: string): string {
  return checked('--store', () => requireDatabaseUrl(url));
}

/** The value of `--publish`. @throws UsageError without the place, which may have a login */
export function publishPlaceOf(place: string): string {
  return checked('--publish', () => requirePublishPlace(place));
}

function checked(option: string, read: () => string): string {
  try {
    return read();
  } catch (error) {
    throw error instanceof ValueError ? new UsageError(`${option}: ${error.message}`) : error;
  }
}
