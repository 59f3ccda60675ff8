// Options for pages that visitors reach by another address than the one they listen on.

import type { Command } from 'commander';
import { defined } from '../../../protocols/defined.js';

/** Values of {@link addPublicOptions}. */
export interface PublicOptions {
  readonly publicUrl?: string;
  readonly referencesUrl?: string;
  readonly trustedProxies?: string;
}

/** Adds `--public-url`, `--references-url` and `--trusted-proxies`. */
export function addPublicOptions(command: Command): Command {
  return command
    .option(
      '--public-url <url>',
      'address at which visitors reach the search page, e.g. behind a proxy (Public-URL)',
    )
    .option('--references-url <url>', 'and that of the pages of links (References-URL)')
    .option(
      '--trusted-proxies <addresses>',
      'proxies whose X-Forwarded-For and -Proto are believed: addresses and ranges, separated by commas (Trusted-Proxies)',
    );
}

/** The variables of broker.conf that the options set. */
export function publicSettings(options: PublicOptions): Record<string, string> {
  const { publicUrl, referencesUrl, trustedProxies } = options;
  return defined({
    'Public-URL': publicUrl,
    'References-URL': referencesUrl,
    'Trusted-Proxies': trustedProxies?.replaceAll(',', ' '),
  });
}
