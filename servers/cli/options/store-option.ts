import { Option } from 'commander';
import { requireDatabaseUrl, ValueError } from '../../../protocols/config/values.js';
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
  try {
    return requireDatabaseUrl(url);
  } catch (error) {
    throw error instanceof ValueError ? new UsageError(`--store: ${error.message}`) : error;
  }
}
