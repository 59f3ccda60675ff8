import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium, type Page, type PageScreenshotOptions, type Request } from 'playwright-core';

/** Starts Debian's Chromium without a window; `CHROMIUM` names another one. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    // Continuous integration runs as root in a container, where Chromium's own sandbox cannot be set up.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}

/** Attempts to take a screenshot: on a busy machine Chromium sometimes answers "Unable to capture screenshot". */
const ATTEMPTS = 10;

/** Saves a screenshot of a page. @throws the last error if no attempt succeeds */
export async function saveScreenshot(page: Page, options: PageScreenshotOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await page.screenshot(options);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await sleep(1000);
    }
  }
}

/** Why a request failed; undefined if the browser aborted it because the user followed a link, as it does with the icon's. */
export function failureOf(request: Request): string | undefined {
  const reason = request.failure()?.errorText ?? '';
  return reason === 'net::ERR_ABORTED' ? undefined : `${request.url()} failed: ${reason}`;
}
