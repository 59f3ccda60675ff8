// The part of an order about the browser that loads pages: settings of URIs, and options of the whole crawl.
import { z } from 'zod';
import { withNote } from './setting-notes.js';

/** The settings of a URI that concern the browser; a part of `crawlSettingsSchema`. */
export const browserSettings = {
  fetcher: withNote(
    z.enum(['http', 'browser']).default('http'),
    'CRAWL-22.12',
    'browser: a page (HTML, status 200) is also loaded in Chromium, whose scripts run; summary and links come from the document that they make. It needs playwright-core and Chromium',
  ),
  browserMaxSeconds: withNote(
    z.number().gt(0).max(600).default(30),
    'CRAWL-22.12',
    'With fetcher browser: longest time that a page may load; its document is then taken as it is',
    { unit: 's' },
  ),
  browserMaxRequests: withNote(
    z.int().min(0).default(100),
    'CRAWL-22.12',
    'With fetcher browser: maximum number of requests of a page for scripts, styles, data; further ones fail',
    { unit: 'requests' },
  ),
  browserMaxMegabytes: withNote(
    z.number().min(0).default(20),
    'CRAWL-22.12',
    'With fetcher browser: maximum number of bytes that these requests of a page receive',
    { unit: 'MiB' },
  ),
  browserDelayMs: withNote(
    z.int().min(0).default(200),
    'CRAWL-7.1, 22.12',
    'With fetcher browser: pause between these requests to one host, which go one after the other; a Crawl-delay of robots.txt applies as well',
    { unit: 'ms' },
  ),
  browserScroll: withNote(
    z.boolean().default(false),
    'CRAWL-22.12',
    'With fetcher browser: the page is scrolled to its end, for what it loads only then',
  ),
};

/** The browser of `settings.fetcher`. */
export const browserSchema = z.strictObject({
  executable: withNote(
    z.string().default(''),
    'CRAWL-22.12',
    'Path of Chromium; empty: it is looked for in the usual places',
  ),
  maxPages: withNote(
    z.int().min(1).max(64).default(2),
    'CRAWL-22.12',
    'Number of pages that are loaded concurrently; further ones wait',
    { unit: 'pages' },
  ),
  memoryMiB: withNote(
    z.int().min(128).default(1024),
    'CRAWL-22.12',
    'Resident memory that the processes of the browser do not share, above which it is restarted (Linux)',
    { unit: 'MiB' },
  ),
  maxCacheMiB: withNote(
    z.int().min(0).default(32),
    'CRAWL-22.12',
    'Memory for scripts, styles and data that several pages use, so that they are fetched once; 0: none is kept',
    { unit: 'MiB' },
  ),
  keepDocuments: withNote(
    z.boolean().default(false),
    'CRAWL-18.6, 22.12',
    'The document that the scripts of a page made is written to the WARC file as a conversion record',
  ),
});
