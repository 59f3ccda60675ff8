/**
 * Uses the broker's web page in a real browser with the keyboard only:
 *
 *     CHROMIUM=/usr/bin/chromium node web-page.js [DIRECTORY FOR SCREENSHOTS]
 *
 * Prints `ok` and exits with 0 if a user without a mouse can search and read a summary.
 */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { WebServer } from '../../servers/broker/index.js';
import {
  checkWidth,
  failureOf,
  focusIsVisible,
  launchBrowser,
  saveScreenshot,
  tabbing,
} from '../helpers/browser.js';
import { document, NOW, openBroker, ScriptedGatherd, serveBroker } from '../servers/broker/helpers.js';

const SUBJECTS = ['gopher', 'veronica', 'archie', 'wais', 'mosaic', 'usenet', 'café', 'finger'];

const cleanups: (() => unknown)[] = [];
const t = { teardown: (handler: () => unknown) => void cleanups.unshift(handler) };
const [directory = 'screenshots'] = process.argv.slice(2);
const tabTo = tabbing(describeFocus);

try {
  await mkdir(directory, { recursive: true });
  const url = await startSite();
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const viewport = { width: 1100, height: 900 };
  await useWithKeyboard(await browser.newContext({ viewport }), url);
  for (const width of [1280, 390])
    await completeWords(await browser.newContext({ viewport: { width, height: 900 } }), url, width);
  await wander(await browser.newContext({ viewport }), url);
  await wander(await browser.newContext({ viewport: { width: 360, height: 740 } }), url);
  await administer(await browser.newContext({ viewport }), url);
  await useWithoutScript(await browser.newContext({ viewport, javaScriptEnabled: false }), url);
  const phone = { width: 360, height: 740 };
  await checkLayout(await browser.newContext({ viewport, reducedMotion: 'reduce' }), url, 'light');
  await checkLayout(await browser.newContext({ viewport: phone, isMobile: true }), url, 'phone');
  await checkLayout(await browser.newContext({ viewport, colorScheme: 'dark' }), url, 'dark');
  await checkLayout(
    await browser.newContext({ viewport: phone, isMobile: true, colorScheme: 'dark' }),
    url,
    'phone-dark',
  );
  process.stdout.write('ok\n');
} finally {
  for (const cleanup of cleanups) await cleanup();
}

async function startSite(): Promise<string> {
  const gatherd = await ScriptedGatherd.listen();
  t.teardown(() => gatherd.close());
  gatherd.documents = Array.from({ length: 48 }, (_, i) => {
    const subject = SUBJECTS[i % SUBJECTS.length] ?? '';
    const updateTime = NOW - 100 * i;
    return {
      updateTime,
      text: document(
        `http://www.example.org/internet/${encodeURIComponent(subject)}/${i}.html`,
        {
          Title: `Notes on ${subject}, part ${Math.floor(i / SUBJECTS.length) + 1}`,
          Type: i % 3 === 0 ? 'PostScript' : 'HTML',
          'File-Size': String(2000 + i * 731),
          Description: `How ${subject} finds its way through the Internet, and what a service of 1995 had to know about it.`,
          Keywords: `internet\n${subject}\nresource discovery`,
          'Last-Modification-Time': String(updateTime - 86_400 * i),
          'URL-References': `http://www.example.org/\nftp://ftp.example.org/pub/${subject}.tar\nmailto:someone@example.org`,
        },
        updateTime,
      ),
    };
  });
  const fixture = await openBroker(t, { points: [gatherd.point(2)], conf: 'Opaque-Mode suppress\n' });
  await fixture.broker.collections.run();
  const server = await serveBroker(t, fixture);
  const web = await WebServer.listen({
    broker: fixture.broker,
    brokerAddress: server.address,
    host: '127.0.0.1',
    port: 0,
    log: fixture.broker.log,
  });
  t.teardown(() => web.close());
  return web.url;
}

async function useWithKeyboard(context: BrowserContext, url: string): Promise<void> {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => problems.push(message.text()));
  page.on('requestfailed', (request) => {
    const failure = failureOf(request);
    if (failure !== undefined) problems.push(failure);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) problems.push(`requested ${request.url()}`);
  });

  await page.goto(url);
  await page.locator('[name=query]:focus').waitFor();
  assert.equal(await describeFocus(page), 'INPUT query', 'the cursor is in the query field');
  await saveScreenshot(page, { path: join(directory, 'search.png') });
  await page.keyboard.type('internet and (gopher or wais)');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.results');
  await saveScreenshot(page, { path: join(directory, 'results.png') });
  assert.equal(await page.locator('h1').textContent(), '12 objects found');

  await page.keyboard.press('Tab');
  assert.match(await describeFocus(page), /^A skip/, 'the first stop is the skip link');
  await page.keyboard.press('Enter');
  await tabTo(page, /^A result .*gopher|^A result .*wais/);
  assert.ok(await focusIsVisible(page), 'the focus is visible');
  await saveScreenshot(page, { path: join(directory, 'focus.png') });
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  assert.match(await describeFocus(page), /^A result/, 'j and k move between results');
  await tabTo(page, /^A facet PostScript/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.chips');
  assert.equal(await page.locator('h1').textContent(), '4 objects found', 'a facet narrows the result');
  await saveScreenshot(page, { path: join(directory, 'narrowed.png') });
  await page.keyboard.press('/');
  assert.equal(await describeFocus(page), 'INPUT query', '/ moves to the query');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.chips');
  await tabTo(page, /^A summary/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('dl.attributes');
  assert.match((await page.locator('h1').textContent()) ?? '', /^Notes on (?:gopher|wais)/);

  await page.goto(`${url}advanced.html`);
  // On a busy machine the page appears before its field has the focus.
  await page.waitForFunction("document.activeElement?.name === 'all'");
  await page.keyboard.type('internet');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.results');
  assert.equal(await page.locator('#query').inputValue(), '"internet"', 'the advanced form writes a query');
  assert.doesNotMatch(page.url(), /value2=/, 'empty fields are not in the address');

  await page.goto(`${url}Harvest/cgi-bin/BrokerQuery.cgi?caseflag=on&query=gopher+and+(`);
  await page.locator('[name=query]:focus').waitFor();
  assert.equal(await describeFocus(page), 'INPUT query', 'the cursor is in the field of the wrong query');
  await saveScreenshot(page, { path: join(directory, 'fault.png') });
  // The query with a fault is answered with status 400, which Chromium reports on its console.
  assert.deepEqual(
    problems.filter((problem) => !problem.includes('400 (Bad Request)')),
    [],
  );
}

/** Chooses among what the page offers while the user types, with the keyboard and the mouse, and reads what a forgiving query found. */
async function completeWords(context: BrowserContext, url: string, width: number): Promise<void> {
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('[name=query]:focus').waitFor();
  const query = page.locator('#query');
  const option = (text: string) => page.locator('[role=option]', { hasText: new RegExp(`^${text}$`) });
  const offers = (text: string) => option(text).waitFor();
  const attribute = (name: string) => query.getAttribute(name);
  const list = page.locator('[role=listbox]');
  await page.keyboard.type('vero');
  await offers('Notes on veronica part 1'.replace(' part', ', part'));
  await offers('veronica');
  await page.keyboard.type('nica wa');
  await offers('veronica wais');
  await page.keyboard.type('i');
  await offers('veronica wais');
  assert.equal(await query.inputValue(), 'veronica wai');

  // The first option is marked, the field has its text, and Escape brings back what was typed.
  await query.fill('');
  await list.waitFor({ state: 'hidden' });
  assert.equal(await attribute('role'), 'combobox');
  assert.equal(await attribute('aria-expanded'), 'false');
  await page.keyboard.type('cafe');
  await offers('Notes on café, part 1');
  assert.equal(await attribute('aria-expanded'), 'true');
  assert.equal(await attribute('aria-controls'), await list.getAttribute('id'));
  await page.keyboard.press('ArrowDown');
  const marked = page.locator('[role=option][aria-selected=true]');
  assert.equal(await attribute('aria-activedescendant'), await marked.getAttribute('id'));
  assert.equal(await query.inputValue(), await marked.textContent());
  assert.equal(await describeFocus(page), 'INPUT query', 'the field keeps the focus');
  await page.keyboard.press('ArrowUp');
  assert.equal(await query.inputValue(), 'cafe');
  assert.equal(await attribute('aria-activedescendant'), null);
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.locator('[role=option]').last().getAttribute('aria-selected'), 'true');
  await saveScreenshot(page, { path: join(directory, `completions-${width}.png`) });
  await page.keyboard.press('Escape');
  await list.waitFor({ state: 'hidden' });
  assert.equal(await query.inputValue(), 'cafe');
  await page.keyboard.press('ArrowDown');
  await list.waitFor();
  await page.keyboard.press('Tab');
  await list.waitFor({ state: 'hidden' });

  // Words of a title in another order; Enter searches for the marked text.
  await query.fill('part veron');
  await offers('Notes on veronica, part 1');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.results');
  assert.match(await query.inputValue(), /^Notes on veronica, part \d$/);
  await page.goBack();
  await query.fill('cafe');
  await option('Notes on café, part 1').click();
  await page.waitForSelector('.results');
  assert.equal(await query.inputValue(), 'Notes on café, part 1');

  await page.goto(url);
  await query.fill('services veronica');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.results');
  const reading = (await page.locator('p.reading').first().textContent()) ?? '';
  assert.match(reading, /Also found: service\./);
  await saveScreenshot(page, { path: join(directory, 'forgiving.png') });
  await tabTo(page, /^A Only what was typed/);
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("Nothing found")');
}

/** Types what is no query, follows links to further pages and to all objects of a type, and goes back. */
async function wander(context: BrowserContext, url: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(url);
  const query = page.locator('#query');
  await query.fill('internet AND');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.results');
  const reading = (await page.locator('p.reading').first().textContent()) ?? '';
  assert.match(reading, /AND is left out/);
  assert.equal(await query.inputValue(), 'internet AND', 'the box has what was typed');
  assert.match((await page.locator('.count').first().textContent()) ?? '', /^1 to 20 of 48 for/);
  await saveScreenshot(page, { path: join(directory, 'no-query.png') });
  await page.click('.pager a[rel=next]');
  await page.waitForSelector('.count:has-text("21 to 40 of 48")');
  await page.goBack();
  await page.waitForSelector('.count:has-text("1 to 20 of 48")');

  await page.goto(url);
  await page.click('.home .chips a:has-text("PostScript")');
  await page.waitForSelector('.results');
  assert.equal(await query.inputValue(), '', 'a link to all objects of a type leaves the box empty');
  assert.equal(await page.locator('h1').textContent(), '16 objects found');
  await saveScreenshot(page, { path: join(directory, 'all-of-a-type.png') });
  await query.fill('gopher');
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("2 objects found")');
  await page.goBack();
  await page.waitForSelector('h1:has-text("16 objects found")');
  assert.equal(await query.inputValue(), '');
  await page.click('ul.chips a');
  await page.waitForSelector('.home');

  await page.goto(`${url}?query=wais`);
  await page.waitForSelector('h1:has-text("6 objects found")');
  assert.equal(await query.inputValue(), 'wais');
  await page.click('button[type=submit]');
  await page.waitForSelector('h1:has-text("6 objects found")');
  await page.goto(`${url}Harvest/cgi-bin/BrokerQuery.cgi?query=`);
  await page.waitForSelector('[role=status]:has-text("Type at least one word")');
  await saveScreenshot(page, { path: join(directory, 'nothing-asked.png') });
}

/** Sends commands from the administration page, with the keyboard. */
async function administer(context: BrowserContext, url: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${url}admin.html`);
  await saveScreenshot(page, { path: join(directory, 'admin.png') });
  await tabTo(page, /^SELECT command/);
  await page.keyboard.type('Generate');
  await tabTo(page, /^INPUT password/);
  await page.keyboard.type('wrong');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.outcome .error');
  assert.match((await page.locator('.outcome').textContent()) ?? '', /Invalid password/);
  await tabTo(page, /^INPUT password/);
  await page.keyboard.type('open sesame');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.outcome pre');
  assert.match((await page.locator('.outcome').textContent()) ?? '', /Objects: 48/);
  assert.doesNotMatch(page.url(), /sesame/, 'the password is not in the address');
  assert.doesNotMatch(await page.content(), /sesame/, 'the password is not in the page');
  await saveScreenshot(page, { path: join(directory, 'admin-outcome.png') });
}

/** Uses the site in a browser without scripts. */
async function useWithoutScript(context: BrowserContext, url: string): Promise<void> {
  const page = await context.newPage();
  await page.goto(url);
  await page.locator('[name=query]:focus').waitFor();
  await page.keyboard.type('gopher');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.results');
  assert.equal(await page.locator('h1').textContent(), '6 objects found');
  await page.goto(`${url}admin.html`);
  await page.selectOption('#command', 'do-stats');
  await page.fill('#password', 'open sesame');
  await page.click('button');
  await page.waitForSelector('.outcome pre');
}

/** Checks that every page fits the screen, and saves screenshots. */
async function checkLayout(context: BrowserContext, url: string, name: string): Promise<void> {
  const page = await context.newPage();
  const fields = 'query=internet&caseflag=on&opaqueflag=on&descflag=on&verbose=on&maxlineflag=5';
  for (const [part, path] of [
    ['search', ''],
    ['results', `Harvest/cgi-bin/BrokerQuery.cgi?${fields}`],
    ['object', 'Harvest/cgi-bin/DisplayObject.cgi?object=/Harvest/brokers/example/objects/1/OBJ1'],
    ['stats', 'stats.html'],
    ['help', 'queryhelp.html'],
    ['advanced', 'advanced.html'],
    ['admin', 'admin.html'],
    ['adminhelp', 'adminhelp.html'],
  ] as const) {
    await page.goto(`${url}${path}`);
    await checkWidth(page, `${name} ${part}`);
    await saveScreenshot(page, { path: join(directory, `${part}-${name}.png`), fullPage: true });
  }
}

/** Describes the focused element by its tag, its name or its role on this site, and its text. */
async function describeFocus(page: Page): Promise<string> {
  const text = await page.evaluate(`(() => {
    const it = document.activeElement;
    const kind = it.closest('.results h2') ? 'result' : it.closest('.results .about') ? 'summary'
      : it.closest('.facets') ? 'facet' : it.className;
    return [it.tagName, it.name || kind, it.tagName === 'SELECT' ? '' : it.innerText].filter(Boolean).join(' ');
  })()`);
  return String(text);
}
