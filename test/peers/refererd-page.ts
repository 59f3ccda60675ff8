/**
 * Uses the references server's page of links in a real browser with the keyboard only:
 *
 *     CHROMIUM=/usr/bin/chromium node refererd-page.js [DIRECTORY FOR SCREENSHOTS]
 *
 * Prints `ok` and exits with 0 if a user without a mouse can follow the links and the page fits every screen.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { startRefererd } from '../../servers/refererd/index.js';
import {
  checkWidth,
  failureOf,
  focusIsVisible,
  launchBrowser,
  saveScreenshot,
  tabbing,
} from '../helpers/browser.js';
import { MemoryLog } from '../servers/refererd/helpers.js';
import { publishFixture } from '../storage/references/fixture.js';

const HUB = 'http://www.example.org/';
/** Longer than any screen, without a line break opportunity. */
const LONG = `http://www.example.org/${'a'.repeat(900)}?${'b'.repeat(900)}`;
const HOSTILE =
  'http://www.example.net/?q=<script>document.title="taken"</script>\'"><img src=x onerror=alert(1)>';
const PAGES = 120;

const [directory = 'screenshots'] = process.argv.slice(2);
const tabTo = tabbing(describeFocus);
const cleanups: (() => unknown)[] = [];

try {
  await mkdir(directory, { recursive: true });
  const url = await startSite();
  const browser = await launchBrowser();
  cleanups.unshift(() => browser.close());
  const viewport = { width: 1100, height: 900 };
  await useWithKeyboard(await browser.newContext({ viewport }), url);
  const phone = { width: 360, height: 740 };
  await checkLayout(await browser.newContext({ viewport, javaScriptEnabled: false }), url, 'light');
  await checkLayout(await browser.newContext({ viewport, colorScheme: 'dark' }), url, 'dark');
  await checkLayout(await browser.newContext({ viewport: phone, isMobile: true }), url, 'phone');
  process.stdout.write('ok\n');
} finally {
  for (const cleanup of cleanups) await cleanup();
}

/**
 * Serves a page to which 121 others link, one of them with a very long URL. It links to a hostile one and to
 * itself.
 */
async function startSite(): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'refererd-page-'));
  cleanups.unshift(() => rm(data, { recursive: true, force: true }));
  const time = 1_000_000_000;
  const plain = { time, checkTime: time, length: 1000 };
  const pages = Array.from({ length: PAGES }, (_, i) => ({
    ...plain,
    id: 100 + i,
    url: `http://site${i % 7}.example.com/page/${i}.html`,
  }));
  const documents = [
    { ...plain, id: 1, url: HUB },
    { ...plain, id: 2, url: LONG },
    { ...plain, id: 3, url: new URL(HOSTILE).href },
    ...pages,
  ];
  const toHub = [2, ...pages.map(({ id }) => id)].map((id) => [id, 1] as const);
  await publishFixture(data, documents, [...toHub, [1, 3], [1, 1], [1, 4_294_967_295]]);
  const server = await startRefererd({ data, port: 0, log: new MemoryLog() });
  cleanups.unshift(() => server.close());
  return server.url;
}

async function useWithKeyboard(context: BrowserContext, url: string): Promise<void> {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('requestfailed', (request) => {
    const failure = failureOf(request);
    if (failure !== undefined) problems.push(failure);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) problems.push(`requested ${request.url()}`);
  });

  await page.goto(url);
  assert.match(await main(page), /124 links between 123 documents of 9 servers/);
  await page.keyboard.press('Tab');
  assert.match(await describeFocus(page), /^A Skip/, 'the first stop is the skip link');
  await tabTo(page, /^A A random document/);
  assert.ok(await focusIsVisible(page), 'the focus is visible');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?q=http/);
  assert.match((await heading(page)) ?? '', /^Links (?:to|from) this document$/, 'a document has a page');
  await page.goto(url);
  await tabTo(page, /^INPUT q/);
  await page.keyboard.type(`${LONG}#fragment`);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?q=http/);
  assert.match(
    await main(page),
    /Links from this document\s*1/,
    'a URL selects its document, whatever its fragment',
  );
  await page.goto(url);
  await tabTo(page, /^INPUT q/);
  await page.keyboard.type('www.EXAMPLE.org');
  await page.keyboard.press('Enter');
  await page.waitForSelector('ol');
  assert.equal(await heading(page), 'Links to this document', 'a host name selects its front page');
  assert.match(await main(page), /122 documents, 1 to 50 shown here/);

  await tabTo(page, /^A Next/);
  assert.ok(await focusIsVisible(page), 'the focus is visible');
  await page.keyboard.press('Enter');
  await page.waitForURL(/start=50/);
  await tabTo(page, /^A Next/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/start=100/);
  assert.equal(await page.locator('ol > li').count(), 22, 'the last page has the rest');
  assert.equal(await page.locator('ol').getAttribute('start'), '101', 'the numbers continue');
  assert.equal(await page.locator('a[rel=next]').count(), 0);

  await tabTo(page, /^A Links from this document/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/view=from/);
  assert.match(await main(page), /document 4294967295, whose URL is not known/);
  await tabTo(page, /^A http:\/\/www\.example\.net\//);
  await page.keyboard.press('Enter');
  await page.waitForURL(/example\.net/);
  assert.match(await page.title(), /^Links to this document: http/, 'no script in a URL runs');
  assert.equal(await page.locator('img').count(), 1, 'the URL creates no element');

  await page.goto(`${url}?q=${encodeURIComponent(HOSTILE)}`);
  assert.equal(await page.locator('#q').inputValue(), HOSTILE, 'the field keeps its text');
  await page.goto(`${url}?q=www.example.org&view=site-to`);
  assert.equal(await heading(page), 'Links to this site from outside');
  assert.match(await main(page), /120 documents, 1 to 50/);
  await page.goto(`${url}?q=${encodeURIComponent('<b>nothing</b>')}`);
  assert.equal(await heading(page), 'Not known here');
  // An unknown URL is answered with status 404, which Chromium reports on its console.
  assert.deepEqual(
    problems.filter((problem) => !problem.includes('404 (Not Found)')),
    [],
  );
}

/** Checks that every page fits the screen, and saves screenshots. */
async function checkLayout(context: BrowserContext, url: string, name: string): Promise<void> {
  const page = await context.newPage();
  for (const [part, query] of [
    ['home', ''],
    ['links', `?q=${encodeURIComponent(HUB)}`],
    ['second', `?q=${encodeURIComponent(HUB)}&start=50`],
    ['from', '?q=1&view=from'],
    ['long', `?q=${encodeURIComponent(LONG)}`],
    ['site', '?q=www.example.org&view=site-to'],
    ['nothing', `?q=${'nowhere'.repeat(60)}.example`],
  ] as const) {
    await page.goto(`${url}${query}`);
    if (name !== 'light') {
      await checkWidth(page, `${name} ${part}`);
    }
    await saveScreenshot(page, { path: join(directory, `references-${part}-${name}.png`), fullPage: true });
  }
}

function main(page: Page): Promise<string> {
  return page.locator('main').innerText();
}

async function heading(page: Page): Promise<string | null> {
  return page.locator('h1').textContent();
}

/** Describes the focused element by its tag and its name or text. */
async function describeFocus(page: Page): Promise<string> {
  const text = await page.evaluate(
    "[document.activeElement.tagName, document.activeElement.name || document.activeElement.innerText].join(' ')",
  );
  return String(text);
}
