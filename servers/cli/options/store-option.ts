import { Option } from 'commander';
import { requireDatabaseUrl, requirePublishPlace, ValueError } from '../../../protocols/config/values.js';
import { UsageError } from '../../../protocols/errors.js';

/** `--store URL`; `Store-URL` of a configuration is the same. */
export function storeOption(description: string): Option {
  return new Option('--store <url>', `${description}: postgres://USER@HOST/DATABASE`);
}

/**
 * The value of {@link storeOption}.
 *
 * @throws UsageError without the URL, which may have a password
 */
export function storeUrlOf(url: string): string {
  return checked('--store', () => requireDatabaseUrl(url));
}

/** `--publish PLACE`; `Publish` of a configuration is the same. */
export function publishOption(): Option {
  return new Option(
    '--publish <place>',
    'also publish to s3://BUCKET/PREFIX or a directory, for servers on other machines',
  );
}

/** The value of {@link publishOption}. @throws UsageError without the place, which may have a login */
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
