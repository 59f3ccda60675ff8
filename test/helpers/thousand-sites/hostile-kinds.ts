// Sites that are slow, broken, endless or lying.
import { gzipSync } from 'node:zlib';
import { type Answer, answer, type Delivery, html, page, redirect, text } from './answers.js';
import type { SiteBuilder } from './site.js';

/** 40 MB of spaces, compressed to 40 kB. */
const GZIP_BOMB = gzipSync(Buffer.alloc(40_000_000, 0x20), { level: 9 });
const HTML_HEADERS = { 'content-type': 'text/html' };

/** The kinds by name. */
export const HOSTILE_KINDS: Readonly<Record<string, (site: SiteBuilder) => void>> = {
  'late first byte': (site) => addSlowPages(site, 'late'),
  drip: (site) => addSlowPages(site, 'drip'),
  'long drip': (site) => addSlowPages(site, 'long-drip'),
  hangs: (site) => addBrokenPage(site, 'hang'),
  'hangs in the body': (site) => addBrokenPage(site, 'hang-in-body'),
  resets: (site) => addBrokenPage(site, 'reset'),
  'resets in the body': (site) => addBrokenPage(site, 'reset-in-body'),
  'truncated answers': (site) => addBrokenPage(site, 'half'),
  'more bytes than announced': (site) => addBrokenPage(site, 'more'),
  'two lengths': (site) => addBrokenPage(site, 'two-lengths'),
  'bad chunks': (site) => addBrokenPage(site, 'bad-chunks'),
  garbage: (site) => addBrokenPage(site, 'garbage'),
  'endless headers': (site) => addBrokenPage(site, 'endless-headers'),
  'endless body': (site) => {
    site.web(3);
    site.linked('/endless.html', html('endless', [], { delivery: 'endless-body' }), site.retryTimes);
  },
  'huge headers': (site) => {
    const headers = { ...HTML_HEADERS, 'x-long': 'y'.repeat(12_000) };
    site.linked('/long-header.html', html('long', ['/next.html'], { headers }), site.retryTimes);
    site.page('/next.html', html('next', []), [0, 1]);
    const tooLong = { ...HTML_HEADERS, 'x-long': 'y'.repeat(200_000) };
    site.linked('/longer-header.html', html('longer', [], { headers: tooLong }), site.retryTimes);
    site.web(3);
  },
  'gzip bombs': (site) => {
    site.linked('/bomb.html', bomb('gzip', GZIP_BOMB), site.retryTimes);
    site.linked('/twice.html', bomb('gzip, gzip', gzipSync(GZIP_BOMB)), site.retryTimes);
    site.linked(
      '/file.gz',
      answer({ headers: { 'content-type': 'application/gzip' }, body: GZIP_BOMB }),
      site.retryTimes,
    );
    site.linked(
      '/lie.html',
      html('not gzip', [], { headers: { 'content-encoding': 'gzip' } }),
      site.retryTimes,
    );
    site.web(3);
  },
  'status 500 forever': (site) => {
    for (const status of [500, 501, 502, 504]) {
      const failing = html('failing', ['/'], { status });
      site.linked(`/status-${status}.html`, failing, site.retryTimes);
    }
    site.web(3);
  },
  'status 503 forever': (site) => {
    site.linked('/busy.html', html('busy', ['/'], { status: 503 }), site.retryTimes);
    site.web(3);
  },
  'statuses of all kinds': (site) => {
    for (const status of [204, 206, 300, 304, 400, 402, 404, 418, 451, 499, 599])
      site.linked(`/status-${status}.html`, html('odd', [], { status, body: '' }), site.retryTimes);
  },
  'status 429, seconds': (site) => addBusyPage(site, 429, '4'),
  'status 429, a date': (site) => addBusyPage(site, 429, '+5'),
  'status 503, seconds': (site) => addBusyPage(site, 503, '4'),
  'status 503, a date': (site) => addBusyPage(site, 503, '+5'),
  'odd Retry-After': (site) => {
    for (const [n, value] of ['-5', 'soon', '1.5', ''].entries()) {
      const headers = { ...HTML_HEADERS, 'retry-after': value };
      const answers = [html('later', [], { status: 503, headers }), html('now', [])];
      site.linked(`/odd-${n}.html`, answers, site.retryTimes);
    }
  },
  'redirect chain': (site) => {
    const status = (n: number) => [301, 302, 303, 307][n % 4];
    for (let n = 0; n < 5; n++) site.page(`/chain-${n}`, redirect(`/chain-${n + 1}`, status(n)));
    site.page('/chain-5', html('the end of the chain', ['/next.html']));
    site.page('/next.html', html('next', []));
    site.link('/chain-0');
    // G-173: five redirects in a row are followed.
    for (let n = 0; n < 9; n++)
      site.page(`/long-${n}`, redirect(`/long-${n + 1}`, status(n)), n <= 5 ? [1, 1] : [0, 0]);
    site.link('/long-0');
  },
  'redirect loops': (site) => {
    site.linked('/self', redirect('/self', 301));
    site.linked('/circle-0', redirect('circle-1'));
    site.page('/circle-1', redirect('./circle-2'));
    site.page('/circle-2', redirect(`${site.origin}/circle-0`));
    site.linked('/to-front', redirect('/#top'));
    site.web(3);
  },
  'redirects to other schemes and sites': (site) => {
    site.linked('/to-file', redirect('file:///etc/passwd'));
    site.linked('/to-nowhere', redirect('http://[::bad/'));
    site.linked('/to-script', redirect('javascript:alert(1)'));
    site.linked('/to-nothing', redirect(''), [1, 1]);
    site.linked('/without', answer({ status: 302, headers: HTML_HEADERS, body: page('none', []) }));
    // Host=1: the other site is out of bounds.
    site.linked('/to-neighbor', redirect(`${site.originOf(site.index + 1)}/not-for-you`));
    site.web(3);
  },
  'front page redirected': (site) => {
    site.frontPage = false;
    site.page('/', redirect('/home/', 301));
    site.page('/home/', html('home', ['a.html', '/home/', '/']));
    site.page('/home/a.html', html('a', ['../home/a.html']));
  },
  'endless calendar': (site) => {
    site.web(4);
    site.link('/calendar?year=2026&month=1');
    site.trap = (path) => {
      const match = /^\/calendar\?year=(\d+)&month=(\d+)$/.exec(path);
      if (match === null) return undefined;
      const month = Number(match[1]) * 12 + Number(match[2]) - 1;
      return html('calendar', [monthLink(month + 1), monthLink(month - 1), monthLink(month + 12)]);
    };
  },
  'ever deeper folders': (site) => {
    site.web(4);
    site.link('/deep/');
    site.trap = (path) => (/^\/(?:deep\/)+$/.test(path) ? html('deeper', ['deep/', '../', './']) : undefined);
  },
  'session numbers': (site) => {
    site.web(4);
    site.link('/shop?session=1');
    site.trap = (path) => {
      const session = /^\/shop\?session=(\d+)$/.exec(path)?.[1];
      if (session === undefined) return undefined;
      return html(
        'shop',
        [2, 3, 5].map((n) => `/shop?session=${Number(session) * n + 1}`),
      );
    };
  },
  'soft 404': (site) => {
    site.web(4);
    site.link('/missing/0');
    // Every address answers 200 with the same body, which links to more addresses.
    site.trap = (path) => (path.startsWith('/missing/') ? html('oops', ['x/1', 'y/2']) : undefined);
  },
};

function monthLink(month: number): string {
  return `/calendar?year=${Math.floor(month / 12)}&month=${(month % 12) + 1}`;
}

/** Adds pages with this delivery, all of which the crawler can read. */
function addSlowPages(site: SiteBuilder, delivery: Delivery): void {
  site.linked('/slow-1.html', html('slow', ['/next.html'], { delivery }));
  site.page('/next.html', html('next', []));
  site.web(3);
}

/** Adds one broken page; the crawler must read the others. */
function addBrokenPage(site: SiteBuilder, delivery: Delivery): void {
  site.web(3);
  const links = ['/', '/perhaps.html'];
  site.linked('/broken.html', html('broken', links, { delivery }), site.retryTimes);
  // The part with this link may or may not have arrived, so following it is optional.
  site.page('/perhaps.html', html('perhaps', []), [0, 1]);
  site.linked('/good.html', html('good', ['/']));
}

function bomb(encoding: string, body: Uint8Array): Answer {
  return answer({ headers: { 'content-type': 'text/html', 'content-encoding': encoding }, body });
}

/** Adds a page that answers first with Retry-After, then with its content. */
function addBusyPage(site: SiteBuilder, status: number, retryAfter: string): void {
  const headers = { 'content-type': 'text/plain', 'retry-after': retryAfter };
  site.linked('/busy.html', [text('later', { status, headers }), html('now', ['/next.html'])], [2, 2]);
  site.page('/next.html', html('next', []));
  site.web(3);
}
