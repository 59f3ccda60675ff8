// Sites whose server works, with all kinds of encodings, charsets, links and markup.
import { deflateSync, gzipSync } from 'node:zlib';
import { answer, html, page, text } from './answers.js';
import type { SiteBuilder } from './site.js';

/**
 * The kinds by name; a function adds the pages of its kind to a site. A kind that needs the next site stands
 * directly before it: the table's order is that of the sites (sites.ts).
 */
export const PLAIN_KINDS: Readonly<Record<string, (site: SiteBuilder) => void>> = {
  plain: (site) => site.web(8),
  'plain, more': (site) => site.web(14),
  'HTTP/1.0': (site) => addPages(site, 'http/1.0'),
  chunked: (site) => addPages(site, 'chunked'),
  'connection closed': (site) => addPages(site, 'close'),
  compressed: (site) => {
    const body = page('packed', ['/next.html']);
    for (const [name, bytes] of [
      ['gzip', gzipSync(body)],
      ['deflate', deflateSync(body)],
    ] as const) {
      const headers = { 'content-type': 'text/html', 'content-encoding': name };
      site.linked(`/${name}.html`, answer({ headers, body: bytes }));
    }
    site.page('/next.html', html('next', []));
  },
  cookies: (site) => {
    const headers = { 'content-type': 'text/html', 'set-cookie': 'id=1; Path=/' };
    site.linked('/cookie.html', html('cookie', ['/next.html'], { headers }));
    site.page('/next.html', html('next', ['/']));
    site.web(3);
  },
  duplicates: (site) => {
    const same = html('the same', ['/', '/copy-0.html']);
    for (let n = 0; n < 5; n++) site.linked(`/copy-${n}.html`, same);
    for (let n = 0; n < 5; n++) site.link(`/copy-0.html#${n}`);
  },
  'wrong charsets': (site) => {
    const umlauts = page('Ärger mit Größe', ['/next.html']);
    const latin = Buffer.from(umlauts, 'latin1');
    const wide = Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from(umlauts, 'utf16le')]);
    const charset = (name: string) => ({ 'content-type': `text/html; charset=${name}` });
    site.linked('/latin-as-utf-8.html', answer({ headers: charset('utf-8'), body: latin }));
    site.linked('/utf-8-as-latin.html', answer({ headers: charset('iso-8859-1'), body: umlauts }));
    site.linked('/wide-as-utf-8.html', answer({ headers: charset('utf-8'), body: wide }));
    site.linked('/nonsense.html', answer({ headers: charset('x-nonsense'), body: latin }));
    site.linked('/none.html', answer({ headers: { 'content-type': 'text/html' }, body: latin }));
    site.page('/next.html', html('next', []));
  },
  'wrong types': (site) => {
    const noise = Uint8Array.from({ length: 3000 }, () => site.random(256));
    const picture = answer({ headers: { 'content-type': 'text/html' }, body: noise });
    site.linked('/picture.html', picture);
    const headers = { 'content-type': 'text/plain' };
    site.linked('/page.txt', html('a page', ['/perhaps.html'], { headers }));
    site.linked('/page.html', html('a page', ['/perhaps.html'], { headers: {} }));
    // 0 or 1 requests: the pages that link to it have a wrong type or none, so a crawler need not read them for
    // links.
    site.page('/perhaps.html', html('perhaps', []), [0, 1]);
    site.linked('/empty.html', html('', [], { body: '' }));
  },
  'links to other sites': (site) => {
    // Host=1: no link to another site may be followed.
    for (const n of [1, 2, 3]) site.link(`${site.originOf(site.index + n)}/not-for-you`);
    site.link('mailto:someone@example.org');
    site.link('file:///etc/passwd');
    site.web(5);
  },
  'links to the neighbor': (site) => {
    // Host=2: two RootNodes reach the neighbor, but each of its pages is fetched once.
    site.hostMax = 2;
    site.link(`${site.originOf(site.index + 1)}/from-afar.html`);
    site.web(5);
  },
  neighbor: (site) => {
    site.page('/from-afar.html', html('from afar', ['/', '/page-0.html', '/afar/only.html']));
    site.page('/afar/only.html', html('only from afar', ['/']));
    site.web(5);
  },
  'odd markup': (site) => {
    const body = `<base href="${site.origin}/base/"><a href=one.html>1<A HREF='two.html' x=>2</a><a href="&#47;three.html">3</a>
<area href=/four.html><frame src=/five.html><iframe src=/six.html></iframe><!-- <a href="/comment.html"> -->
<script>"<a href='/script.html'>"</script><meta http-equiv=refresh content="9; URL=/seven.html">
<a href="http://[bad">x</a><a href="">self</a><a href="  /eight.html
">8</a><a>none</a></body`;
    site.linked('/odd.html', html('odd', [], { body }));
    for (const path of ['/base/one.html', '/base/two.html', '/three.html', '/four.html', '/five.html'])
      site.page(path, html('found', []));
    for (const path of ['/six.html', '/seven.html', '/eight.html']) site.page(path, html('found', []));
    // 0 or 1 requests: an empty reference is the document itself, or the base.
    site.page('/base/', html('base', []), [0, 1]);
    site.forbidden('/comment.html');
    site.forbidden('/script.html');
  },
  texts: (site) => {
    for (let n = 0; n < 4; n++) site.linked(`/text-${n}.txt`, text(`words and ${n} more words\n`));
    site.web(3);
  },
};

/** Adds pages with this delivery, and a robots.txt with it. */
function addPages(site: SiteBuilder, delivery: 'http/1.0' | 'chunked' | 'close'): void {
  for (let n = 0; n < 4; n++) site.linked(`/${n}.html`, html('page', [`/below/${n}.html`], { delivery }));
  for (let n = 0; n < 4; n++) site.page(`/below/${n}.html`, html('page', ['/'], { delivery }));
  site.robots(text('User-agent: *\nDisallow:\n', { delivery }));
}
