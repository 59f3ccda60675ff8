/**
 * Uses the crawl console in a real browser, with the keyboard, with and without script:
 *
 *     CHROMIUM=/usr/bin/chromium node console-browser.js [DIRECTORY FOR SCREENSHOTS]
 *
 * Prints `ok` and exits with 0 if a user without a mouse can log in, watch the crawl and control it.
 */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { CrawlConsole } from '../../servers/crawler/console/console.js';
import { checkWidth, launchBrowser, saveScreenshot, tabbing } from '../helpers/browser.js';
import { FakeCrawl, NOW, queue } from '../servers/crawler/fake-control.js';

const PASSWORD = 'open sesame';
const VIEWPORT = { width: 1200, height: 900 };
const PHONE = { width: 360, height: 740 };

/** A crawl whose figures change with every snapshot. */
class LivelyCrawl extends FakeCrawl {
  override snapshot(): ReturnType<FakeCrawl['snapshot']> {
    const i = this.snapshots;
    this.timeOffsetMs = i * 1000;
    const rate = this.state === 'running' ? 12 + 6 * Math.sin(i / 25) + 2 * Math.sin(i) : 0;
    this.snapshotChanges = {
      succeeded: 1234 + 12 * i,
      queued: Math.round(900 + 400 * Math.sin(i / 90)),
      currentDocumentsPerSecond: rate,
      currentKilobytesPerSecond: rate * (11 + Math.cos(i / 7)),
      busyWorkers: Math.round(rate),
      workers: 50,
    };
    return super.snapshot();
  }
}

const [directory = 'screenshots'] = process.argv.slice(2);
const tabTo = tabbing(describeFocus);
await mkdir(directory, { recursive: true });

const crawl = new LivelyCrawl();
crawl.queueReports.push(
  ...Array.from({ length: 70 }, (_, i) =>
    queue(`host-${String(i).padStart(2, '0')}.department.example`, {
      state: 'snoozed',
      count: 1 + ((i * 37) % 900),
      reason: i % 3 === 0 ? 'crawl-delay' : 'politeness',
      wakeTime: NOW + 600_000 + i * 4000,
    }),
  ),
);
await using site = await CrawlConsole.start({
  control: crawl,
  port: 0,
  password: PASSWORD,
  name: 'example',
  log: pino({ enabled: false }),
});
// Creates ten minutes of history at once.
for (let i = 0; i < 600; i++) site.feed.tick();
const browser = await launchBrowser();
try {
  await useWithKeyboard(await browser.newContext({ viewport: VIEWPORT }));
  await useWithoutScript(await browser.newContext({ viewport: VIEWPORT, javaScriptEnabled: false }));
  for (const [name, options] of [
    ['light', { viewport: VIEWPORT, reducedMotion: 'reduce' }],
    ['dark', { viewport: VIEWPORT, colorScheme: 'dark' }],
    ['phone', { viewport: PHONE, isMobile: true }],
    ['phone-dark', { viewport: PHONE, isMobile: true, colorScheme: 'dark' }],
  ] as const)
    await checkLayout(name, options);
  process.stdout.write('ok\n');
} finally {
  await browser.close();
}

async function logIn(page: Page): Promise<void> {
  await page.goto(site.url);
  assert.equal(new URL(page.url()).pathname, '/login');
  await page.locator('[name=password]:focus').waitFor();
  assert.equal(await describeFocus(page), 'INPUT password', 'the cursor is in the password field');
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForSelector('[data-part=totals] dl');
}

async function useWithKeyboard(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(site.url)) problems.push(`requested ${request.url()}`);
  });
  await logIn(page);
  const succeeded = page.locator('[data-part=totals] dd').first();
  const before = (await succeeded.innerText()).split(/\s/, 1)[0] ?? '';
  await page.waitForSelector(`[data-part=totals] div:first-child > dd:not(:has-text("${before}"))`);
  await saveScreenshot(page, { path: join(directory, 'console.png') });

  await page.keyboard.press('Tab');
  assert.match(await describeFocus(page), /^A skip/, 'the first stop is the skip link');
  await tabTo(page, /^BUTTON Pause/);
  assert.equal(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'"), true);
  await page.keyboard.press('Enter');
  await waitForState(page, 'paused');
  assert.match((await page.locator('#outcome').textContent()) ?? '', /pauses/);
  assert.match(await describeFocus(page), /^BUTTON Pause/, 'the focus does not move');
  await tabTo(page, /^BUTTON Resume/);
  await page.keyboard.press('Space');
  await waitForState(page, 'running');
  await tabTo(page, /^BUTTON Checkpoint/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#outcome:has-text("cp00008")');
  await tabTo(page, /^SUMMARY More/);
  await page.keyboard.press('Enter');
  await tabTo(page, /^INPUT pattern/);
  await page.keyboard.type('(');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#outcome.error');
  assert.match((await page.locator('#outcome').textContent()) ?? '', /not a regular expression/);
  assert.deepEqual(crawl.actions, ['pause', 'resume', 'checkpoint']);

  // Live updates can be switched off and on again.
  await tabTo(page, /^BUTTON .*Live/, 'Shift+Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#live').getAttribute('aria-pressed'), 'false');
  await page.keyboard.press('Enter');

  await page.selectOption('#state', 'retired');
  await tabTo(page, /^BUTTON Show/);
  const followed = page.waitForRequest(/\/events\?state=retired/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/state=retired/);
  assert.equal(await page.locator('[data-part=queues] tbody tr').count(), 1);
  await followed;
  // The refused pattern was answered with status 400, which Chromium reports on its console.
  assert.deepEqual(
    problems.filter((problem) => !problem.includes('400 (Bad Request)')),
    [],
  );
  await context.close();
}

/** Uses the console in a browser without scripts. */
async function useWithoutScript(context: BrowserContext): Promise<void> {
  const page = await context.newPage();
  await logIn(page);
  assert.equal(await page.locator('[data-part=queues] tbody tr').count(), 50);
  await page.click('a[rel=next]');
  assert.equal(await page.locator('[data-part=queues] tbody tr').count(), 25);
  await page.click('text=Pause');
  await page.waitForSelector('#outcome');
  assert.equal(await page.locator('[data-part=state]').textContent(), 'paused');
  await page.click('button:has-text("Resume")');
  await page.click('text=Stop …');
  await page.click('text=Stop now');
  await page.waitForSelector('#outcome');
  assert.equal(await page.locator('[data-part=state]').textContent(), 'finished');
  assert.ok(crawl.actions.includes('stop'));
  crawl.state = 'running';
  await page.click('text=Log out');
  assert.equal(new URL(page.url()).pathname, '/login');
  await saveScreenshot(page, { path: join(directory, 'login.png') });
  await context.close();
}

/** Checks that the console fits the screen, and saves a screenshot. */
async function checkLayout(name: string, options: BrowserContextOptions): Promise<void> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await logIn(page);
  await checkWidth(page, name);
  await saveScreenshot(page, { path: join(directory, `console-${name}.png`), fullPage: true });
  await context.close();
}

async function waitForState(page: Page, state: string): Promise<void> {
  await page.waitForSelector(`[data-part=state] .${state}`);
}

/** Describes the focused element by its tag, its name or class, and its text. */
async function describeFocus(page: Page): Promise<string> {
  const text = await page.evaluate(`(() => {
    const it = document.activeElement;
    return [it.tagName, it.name || it.className, it.tagName === 'SELECT' ? '' : it.innerText].filter(Boolean).join(' ');
  })()`);
  return String(text).replace(/\s+/g, ' ').trim();
}
