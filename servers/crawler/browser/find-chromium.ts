import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { UsageError } from '../../../protocols/errors.js';

/** Names of Chromium and of browsers made from it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
/** Places outside of PATH. */
const PLACES = [
  '/usr/bin',
  '/usr/local/bin',
  '/snap/bin',
  '/opt/google/chrome',
  '/Applications/Chromium.app/Contents/MacOS',
  '/Applications/Google Chrome.app/Contents/MacOS',
];
const MAC_NAMES = ['Chromium', 'Google Chrome'];

/**
 * Returns the path of Chromium.
 * @param configured the operator's path; empty: PATH and the usual places are searched
 * @throws UsageError if it is not installed
 */
export async function findChromium(configured: string, path = process.env.PATH ?? ''): Promise<string> {
  if (configured !== '') {
    if (await isExecutable(configured)) return configured;
    throw new UsageError(`browser.executable: ${configured} is not a program that can be run`);
  }
  const directories = [...path.split(delimiter).filter((each) => isAbsolute(each)), ...PLACES];
  for (const directory of directories)
    for (const name of [...NAMES, ...MAC_NAMES]) {
      const file = join(directory, name);
      if (await isExecutable(file)) return file;
    }
  throw new UsageError(
    'the fetcher browser needs Chromium: install it (Debian: apt install chromium), or name it in browser.executable of the order',
  );
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
