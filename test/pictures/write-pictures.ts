// `npm run pictures`: makes the pictures of the README with Debian's Chromium. They show a run without a ROOT: the
// search page, and a report of the conformance kit about its gatherd behind a proxy that adds a defect.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { ROOT } from '../architecture/sources.js';
import { startProxy } from '../conformance/proxy.js';
import { launchBrowser, saveScreenshot } from '../helpers/browser.js';
import { ANY_PORTS, CliProcess, finishedOf, PROGRAM } from '../helpers/cli.js';
import { terminalPage } from './terminal-page.js';

const IMAGES = join(ROOT, 'docs', 'images');
const VIEWPORT = { width: 1000, height: 700 };
const QUERY = 'exit status';
const CASES = ['status/*', 'hello/accepted'];

/** The documents have their usual port, because results show it. */
async function startKit(data: string): Promise<{ run: CliProcess; gatherd: number; web: string }> {
  const run = new CliProcess(['run', '--data', data, ...ANY_PORTS]);
  const [, gatherd, web = ''] = await run.output(/^ready gatherd=\S+:(\d+) .*web=(\S+)$/m);
  await run.output(/^ {2}open /m);
  return { run, gatherd: Number(gatherd), web };
}

async function writeSearchPicture(browser: Browser, web: string): Promise<void> {
  const page = await browser.newPage({ viewport: VIEWPORT, deviceScaleFactor: 1 });
  await page.goto(web);
  await page.fill('input[name="query"]', QUERY);
  await page.press('input[name="query"]', 'Enter');
  await page.waitForLoadState();
  await saveScreenshot(page, { path: join(IMAGES, 'search.png') });
}

/** The proxy answers HELP with lines that end in CR LF. */
async function writeReportPicture(browser: Browser, gatherd: number): Promise<void> {
  await using proxy = await startProxy(gatherd, () => ({
    fromServer: (text) => text.replace(/^(200 - .*)\n/gm, '$1\r\n'),
  }));
  const words = [
    'conformance',
    'gatherd',
    `127.0.0.1:${proxy.port}`,
    ...CASES.flatMap((id) => ['--only', `'${id}'`]),
  ];
  const shown = ['$ npx harvest', ...words].join(' ');
  // Commands color their output on a terminal only.
  const command = [`'${process.execPath}'`, `'${PROGRAM}'`, ...words].join(' ');
  const { stdout } = await finishedOf(
    spawn('script', ['-qec', command, '/dev/null'], { env: { ...process.env, TERM: 'xterm-256color' } }),
  );
  const page = await browser.newPage({ viewport: VIEWPORT, deviceScaleFactor: 1 });
  await page.setContent(terminalPage(`${shown}\n${stdout}`));
  await saveScreenshot(page, { path: join(IMAGES, 'conformance.png'), fullPage: true });
}

await mkdir(IMAGES, { recursive: true });
const data = await mkdtemp(join(tmpdir(), 'harvest-pictures-'));
const { run, gatherd, web } = await startKit(data);
const browser = await launchBrowser();
try {
  await writeSearchPicture(browser, web);
  await writeReportPicture(browser, gatherd);
} finally {
  await browser.close();
  run.kill('SIGTERM');
  await run.finished;
  await rm(data, { recursive: true, force: true });
}
