// Starts a browser for the tests of the kit's pages.
import assert from 'node:assert/strict';
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

/** Maximum number of attempts: on a busy machine Chromium sometimes answers "Unable to capture screenshot". */
const MAX_SCREENSHOT_ATTEMPTS = 10;

/** Saves a screenshot of a page. @throws the last error if no attempt succeeds */
export async function saveScreenshot(page: Page, options: PageScreenshotOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await page.screenshot(options);
      return;
    } catch (error) {
      if (attempt === MAX_SCREENSHOT_ATTEMPTS) throw error;
      await sleep(1000);
    }
  }
}

/**
 * Describes why a request failed. Returns undefined if the browser aborted the request because the user
 * followed a link, which happens to requests for the icon.
 */
export function failureOf(request: Request): string | undefined {
  const reason = request.failure()?.errorText ?? '';
  return reason === 'net::ERR_ABORTED' ? undefined : `${request.url()} failed: ${reason}`;
}

/** Whether the focused element has an outline. */
export async function focusIsVisible(page: Page): Promise<boolean> {
  return (await page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'")) === true;
}

/** Returns a function that presses a key until the focused element, as `describe` describes it, matches. */
export function tabbing(describe: (page: Page) => Promise<string>) {
  return async (page: Page, pattern: RegExp, key = 'Tab'): Promise<void> => {
    for (let presses = 0; presses < 150; presses++) {
      await page.keyboard.press(key);
      if (pattern.test(await describe(page))) return;
    }
    assert.fail(`${pattern} cannot be reached with ${key}`);
  };
}

/** Checks that a page is not wider than the screen. */
export async function checkWidth(page: Page, name: string): Promise<void> {
  const root = 'document.documentElement';
  assert.equal(
    await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`),
    0,
    `${name} fits the screen`,
  );
}
