import type { BrowserType } from 'playwright-core';
import { errorCode, UsageError } from '../../../protocols/errors.js';

/** Loads the optional package that controls Chromium. @throws UsageError if it is not installed */
export async function loadPlaywright(): Promise<BrowserType> {
  try {
    const { chromium } = await import('playwright-core');
    return chromium;
  } catch (cause) {
    if (errorCode(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new UsageError(
      'the fetcher browser needs the package playwright-core: npm install playwright-core',
      {
        cause,
      },
    );
  }
}
