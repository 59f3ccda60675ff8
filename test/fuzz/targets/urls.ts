// URLs: canonical forms, crawl keys, SURTs, names of servers.
import {
  accessMethod,
  COST_POLICIES,
  canonicalDocumentUrl,
  canonicalString,
  canonicalUrl,
  classKey,
  cleanUri,
  documentUrlParts,
  fingerprint,
  impliedSurtPrefix,
  PublicSuffixes,
  QUEUE_POLICIES,
  queueAssignment,
  referenceUrl,
  SurtPrefixSet,
  serverNameOf,
  surt,
  surtCandidate,
  UrlResolver,
  unescapeBytes,
  uriKey,
  withoutUserInfo,
} from '../../../protocols/urls/index.js';
import { allowed, assert, type FuzzTarget, randomOf, utf8 } from '../target.js';

const SEEDS = (
  'http://User:pw@WWW.Example.ORG:80/a/./b/../c;jsessionid=0123456789abcdef0123456789abcdef?q=1&x#f ' +
  'news:comp.lang.c gopher://h/1/x ftp://a@h/%41%7e mailto:a@b http://[::1]:8080/ http://0x7f.1/ ' +
  '../../x?y file:///etc/passwd'
).split(' ');
const BASES = [
  undefined,
  'http://h.example/a/b',
  'gopher://h.example/1',
  'news:x',
  'file:///a/',
  'ftp://h/a;type=i',
];

export const canonicalUrls: FuzzTarget = {
  corpus: ['urls'],
  seeds: SEEDS,
  run: (input) => {
    const text = utf8(input);
    const base = randomOf(input).pick(BASES);
    const url = canonicalUrl(text, base);
    if (base !== undefined) {
      assert(new UrlResolver(base).resolve(text) === url, 'a resolver gives the same');
    }
    if (url === undefined) return;
    assert(canonicalUrl(url) === url, `a canonical URL is a fixed point: ${url} gives ${canonicalUrl(url)}`);
    assert(!/[\0-\x20\x7f]/.test(url), 'a canonical URL has no blanks or controls');
    accessMethod(url);
    withoutUserInfo(url);
    unescapeBytes(url);
    referenceUrl(url);
  },
};

const rules = PublicSuffixes.parse('com\norg\n*.uk\n!city.kawasaki.jp\n');

export const crawlUris: FuzzTarget = {
  corpus: ['urls'],
  seeds: SEEDS,
  run: (input) => {
    const text = utf8(input);
    const random = randomOf(input);
    const uri = cleanUri(text, random.pick(BASES));
    if (uri === undefined) return;
    // CRAWL-2.1 drops one dot around the host; a host with more of them is no name.
    const hasEmptyLabel = /^[^/]*\/\/(?:[^/?]*@)?(?:\.|[^/?]*\.[.:/?])/.test(`${uri}/`);
    assert(hasEmptyLabel || cleanUri(uri) === uri, `a clean URI stays: ${uri} gives ${cleanUri(uri)}`);
    const seen = canonicalString(uri);
    uriKey(seen);
    fingerprint(uri, 64);
    classKey(uri, random.once(2) ? undefined : 'http://via.example/');
    surt(uri);
    surtCandidate(uri);
    const set = new SurtPrefixSet([impliedSurtPrefix(uri), 'http://(org,']);
    set.has(uri);
    set.restrictToHosts().find(uri);
    set.extendToDomains().find(uri);
    rules.assignedLabels(uri.split('.'));
    for (const policy of QUEUE_POLICIES) allowed(() => queueAssignment({ policy }));
    for (const policy of Object.values(COST_POLICIES)) policy(uri);
  },
};

export const documentUrls: FuzzTarget = {
  corpus: ['urls'],
  seeds: [...SEEDS, 'www.example:81', 'HOST'],
  run: (input) => {
    const text = utf8(input);
    allowed(() => {
      const url = canonicalDocumentUrl(text);
      assert(canonicalDocumentUrl(url) === url, 'a canonical document URL is a fixed point');
      documentUrlParts(url);
    });
    allowed(() => serverNameOf(text));
  },
};
