// Sites with all kinds of robots.txt files (G-62, G-63, CRAWL-13).
import { gzipSync } from 'node:zlib';
import { type Answer, answer, html, redirect, text } from './answers.js';
import type { SiteBuilder } from './site.js';

/** The kinds by name. */
export const ROBOTS_KINDS: Readonly<Record<string, (site: SiteBuilder) => void>> = {
  'robots allows': withRules(text('User-agent: *\nDisallow:\n')),
  'robots disallows a folder': (site) => {
    site.robots(text('User-agent: *\nDisallow: /private/\nDisallow: /exact.html\n'));
    site.web();
    addForbiddenPages(site, '/private/a.html', '/private/', '/exact.html', '/exact.html?really');
    site.linked('/private', html('not below it', []));
  },
  'robots disallows everything': (site) => {
    site.robots(text('User-agent: *\nDisallow: /\n'));
    forbidPages(site);
  },
  'robots contains wildcards': (site) => {
    site.robots(text('User-agent: *\nDisallow: /*.cgi\nDisallow: /*?q=\nDisallow: /end$\n'));
    site.web();
    addForbiddenPages(site, '/bin/run.cgi', '/run.cgi?x=1', '/find?q=word', '/end');
    site.linked('/ending', html('longer than the pattern', []));
    site.linked('/find?p=word', html('another query', []));
  },
  'robots allows part of a disallowed folder': (site) => {
    site.robots(text('User-agent: *\nDisallow: /a/\nAllow: /a/open/\nDisallow: /a/open/not\n'));
    addForbiddenPages(site, '/a/x.html', '/a/open/not.html');
    site.linked('/a/open/yes.html', html('allowed', []));
  },
  'robots contains a group for this crawler': withRules(
    text('User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-agent: harvest\nDisallow: /ours/\n'),
    '/ours/x.html',
  ),
  'robots has unusual syntax': (site) => {
    const lines = ['\ufeffUSER-AGENT : *', '# remark', 'dIsAlLoW: /private/ # why not', 'Sitemap: /none.xml'];
    site.robots(text(`${lines.join('\r\n')}\rDisallow: /other/\n`));
    site.web();
    addForbiddenPages(site, '/private/a.html', '/other/a.html');
  },
  'robots sets a delay': (site) => {
    site.robots(text('User-agent: *\nCrawl-delay: 1\nDisallow: /no/\n'));
    site.crawlDelayMs = 1000;
    site.web(4);
    addForbiddenPages(site, '/no/1.html');
  },
  'robots sets a delay for another crawler': (site) => {
    site.robots(text('User-agent: slowpoke\nCrawl-delay: 250\n\nUser-agent: *\nDisallow: /no/\n'));
    site.web(4);
    addForbiddenPages(site, '/no/1.html');
  },
  'robots 403': withRules(text('Disallow: /', { status: 403 })),
  'robots 410': withRules(text('User-agent: *\nDisallow: /', { status: 410 })),
  'robots is empty': withRules(text('')),
  'robots 500': withoutRules(text('broken', { status: 500 })),
  'robots 503 with Retry-After': (site) => {
    const busy = text('busy', { status: 503, headers: { 'retry-after': '1' } });
    site.robots(busy, [1, 3]);
    forbidPages(site);
  },
  'robots 500 once': (site) => {
    const rules = text('User-agent: *\nDisallow: /no/\n');
    site.robots([text('broken', { status: 500 }), rules], [2, 2]);
    site.web();
    addForbiddenPages(site, '/no/1.html');
  },
  'robots hangs': withoutRules(text('', { delivery: 'hang' })),
  'robots resets the connection': withoutRules(
    text('User-agent: *\nDisallow: /no/\n', { delivery: 'reset' }),
  ),
  'robots is huge': (site) => {
    const filler = `# ${'x'.repeat(96)}\n`.repeat(4000);
    site.robots(text(`User-agent: *\nDisallow: /no/\n${filler}Disallow: /neither/\n${filler}${filler}`));
    site.web();
    addForbiddenPages(site, '/no/1.html', '/neither/1.html');
  },
  'robots never ends': (site) => {
    site.robots(text('User-agent: *\nDisallow: /no/\n', { delivery: 'endless-body' }), [1, 3]);
    addOptionalPages(site);
    addForbiddenPages(site, '/no/1.html');
  },
  'robots is compressed': (site) => {
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'gzip' };
    site.robots(answer({ headers, body: gzipSync('User-agent: *\nDisallow: /no/\n') }));
    site.web();
    addForbiddenPages(site, '/no/1.html');
  },
  'robots is redirected': (site) => {
    site.robots(redirect('/rules/robots.txt', 301));
    site.page('/rules/robots.txt', text('User-agent: *\nDisallow: /no/\n'));
    site.web();
    addForbiddenPages(site, '/no/1.html');
  },
  'robots is redirected in a loop': (site) => {
    site.robots(redirect('/robots.txt?again', 302), [1, 9]);
    site.page('/robots.txt?again', redirect('/robots.txt'), [0, 9]);
    addOptionalPages(site);
  },
  'robots redirects to another site': (site) => {
    // The robots.txt of the neighbor applies to both sites.
    site.robots(redirect(`${site.originOf(site.index + 1)}/shared-robots.txt`, 302));
    site.web();
    addForbiddenPages(site, '/shared/1.html');
  },
  'robots of the neighbor': (site) => {
    site.robots(text('User-agent: *\nDisallow: /no/\n'));
    site.page('/shared-robots.txt', text('User-agent: *\nDisallow: /shared/\n'), [0, 1]);
    site.web();
    addForbiddenPages(site, '/no/1.html');
  },
  'robots is HTML': withRules(html('Not found', ['/'], { status: 200 })),
  'robots comes late': withRules(text('User-agent: *\nDisallow: /no/\n', { delivery: 'late' }), '/no/1.html'),
  'META robots': (site) => {
    const nofollowPage = html('nofollow', ['/hidden/1.html'], {
      body: metaPage('nofollow', '/hidden/1.html'),
    });
    site.linked('/nofollow.html', nofollowPage);
    site.linked('/noindex.html', html('noindex', [], { body: metaPage('noindex', '/seen.html') }));
    site.page('/seen.html', html('seen', []));
    site.forbidden('/hidden/1.html');
    site.web(3);
  },
  'X-Robots-Tag': (site) => {
    const headers = { 'content-type': 'text/html', 'x-robots-tag': 'nofollow' };
    site.linked('/nofollow.html', html('nofollow', ['/hidden/2.html'], { headers }));
    site.forbidden('/hidden/2.html');
    site.web(3);
  },
};

/** Pages beside rules that the crawler reads, and pages that they forbid. */
function withRules(rules: Answer, ...forbidden: readonly string[]): (site: SiteBuilder) => void {
  return (site) => {
    site.robots(rules);
    site.web();
    addForbiddenPages(site, ...forbidden);
  };
}

/** Rules that the crawler cannot read: nothing may be fetched. */
function withoutRules(answer: Answer): (site: SiteBuilder) => void {
  return (site) => {
    site.robots(answer, [1, 3]);
    forbidPages(site);
  };
}

function metaPage(content: string, link: string): string {
  return `<html><head><meta name="ROBOTS" content="${content}"><title>meta</title></head><body><a href="${link}">x</a></body></html>`;
}

/** Adds pages that must not be fetched, and links to them. */
function addForbiddenPages(site: SiteBuilder, ...paths: readonly string[]): void {
  for (const path of paths) {
    site.forbidden(path);
    site.link(path);
  }
}

/** Forbids everything except robots.txt. */
function forbidPages(site: SiteBuilder): void {
  site.frontPage = false;
  site.forbidden('/');
}

/** Adds pages that may or may not be fetched. */
function addOptionalPages(site: SiteBuilder): void {
  site.frontTimes = [0, 1];
  site.web(3, [0, 1]);
}
