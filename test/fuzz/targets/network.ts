// Gopher, NNTP and robots.txt.

import {
  decodeGopherText,
  encodeGopherRequest,
  GopherMenuDecoder,
  gopherItemUrl,
  parseGopherError,
  parseGopherPlusHeader,
  parseGopherUrl,
} from '../../../protocols/gopher/index.js';
import {
  formatCookieLine,
  type HttpEvent,
  HttpResponseReader,
  parseCookieFile,
} from '../../../protocols/http/index.js';
import { LineSplitter } from '../../../protocols/line-splitter.js';
import {
  NntpReplyDecoder,
  parseActiveLine,
  parseGroupStatus,
  parseNewsUrl,
  parseOverviewLine,
} from '../../../protocols/nntp/index.js';
import {
  normalizePath,
  parseRobots,
  parseRobotsMeta,
  parseXRobotsTag,
  ROBOTS_POLICIES,
  RobotsPolicy,
} from '../../../protocols/robots/index.js';
import {
  allowed,
  assert,
  bytesOf,
  type FuzzTarget,
  latin1,
  randomOf,
  sameInPieces,
  shown,
  utf8,
  wordsIn,
} from '../target.js';

export const gopherMenus: FuzzTarget = {
  seeds: [
    'iWelcome\t\terror.host\t1\r\n1Docs\t/docs\tGopher.Example\t70\r\n7Find\t/find\tg\t70\t+\r\nhWeb\tURL:http://w/~j\tg\t70\n.\r\n',
  ],
  run: (input) => {
    const limits = randomOf(input).once(2) ? {} : { maxLineBytes: 30, maxItems: 2 };
    sameInPieces(input, (pieces) => {
      const decoder = new GopherMenuDecoder(limits);
      const items = pieces.flatMap((piece) => decoder.push(piece));
      for (const item of items) {
        const url = allowed(() => gopherItemUrl(item));
        if (url?.startsWith('gopher:') === true) encodeGopherRequest(parseGopherUrl(url));
      }
      return [items.map(shown), decoder.ended, decoder.truncated];
    });
    decodeGopherText(input);
    parseGopherError(input);
    parseGopherPlusHeader(input);
  },
};

export const gopherUrls: FuzzTarget = {
  seeds: ['gopher://h.example/', 'gopher://h:7070/7/find%09words%09+'],
  run: (input) => {
    const address = allowed(() => parseGopherUrl(utf8(input)));
    if (address === undefined) return;
    const request = allowed(() => latin1(encodeGopherRequest(address)));
    assert(request === undefined || !/[\r\n]/.test(request.slice(0, -2)), 'a request is one line');
  },
};

export const cookieFiles: FuzzTarget = {
  seeds: [
    '# Netscape HTTP Cookie File\n#HttpOnly_.h.example\tTRUE\t/\tFALSE\t1893456000\tsid\t1\nh\tFALSE\t/a\tTRUE\t0\tb\t\n',
  ],
  run: (input) => {
    const { cookies } = parseCookieFile(latin1(input));
    const lines = cookies.map((cookie) => formatCookieLine(cookie) ?? '');
    const again = parseCookieFile(lines.join(''));
    const writable = cookies.filter((_, i) => lines[i] !== '');
    assert(shown(again) === shown({ cookies: writable, problems: [] }), 'what is written is read as it was');
  },
};

export const httpResponses: FuzzTarget = {
  corpus: ['http'],
  tokens: wordsIn('HTTP/1.1 200 OK\r\n|Content-Length: |Transfer-Encoding: chunked\r\n|\r\n\r\n|0\r\n\r\n'),
  run: (input) => {
    const limits = randomOf(input).pick([
      {},
      { maxHeadBytes: 100, maxFields: 3 },
      { maxChunkLineBytes: 8, maxExtensionBytes: 4 },
    ]);
    sameInPieces(input, (pieces) => {
      const reader = new HttpResponseReader(limits);
      const log: string[] = [];
      let data = '';
      let raw = '';
      const take = (event: HttpEvent): void => {
        if ('raw' in event) raw += latin1(event.raw);
        if (event.kind === 'data') data += latin1(event.raw);
        else {
          log.push(data, shown(event));
          data = '';
        }
      };
      allowed(() => {
        for (const piece of pieces) for (const event of reader.push(piece)) take(event);
        for (const event of reader.end()) take(event);
        assert(reader.isEnded, 'a message has an end');
      });
      assert(latin1(input).startsWith(raw), 'the raw bytes of the events are the message');
      return [log, data];
    });
  },
};

export const nntp: FuzzTarget = {
  seeds: ['200 ready\r\n211 5 1 9 a.b\r\n', '224 x\r\n1\ts\tf\td\t<i>\r\n..x\r\n.\r\n'],
  run: (input) => {
    const codes = randomOf(input).pick([[], [224], [200, 220, 222]]);
    sameInPieces(input, (pieces) => {
      const decoder = new NntpReplyDecoder();
      decoder.expect(codes);
      const log: string[] = [];
      let data = '';
      for (const event of pieces.flatMap((piece) => decoder.push(piece))) {
        if (event.kind === 'data') data += latin1(event.bytes);
        else {
          log.push(data, shown(event));
          data = '';
        }
      }
      return [log, data];
    });
    sameInPieces(input, (pieces) => {
      const splitter = new LineSplitter(50, 'latin1');
      const out: (string | undefined)[] = [];
      allowed(() => {
        for (const piece of pieces) out.push(...splitter.push(Buffer.from(piece)));
      });
      return out;
    });
    for (const line of latin1(input).split('\n')) {
      parseOverviewLine(line);
      parseGroupStatus(line);
      parseActiveLine(line);
    }
    allowed(() => parseNewsUrl(utf8(input)));
  },
};

export const robots: FuzzTarget = {
  corpus: ['robots'],
  seeds: ['User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 5\n'],
  generate: (random) =>
    bytesOf(
      random
        .list(
          9,
          () =>
            `${random.pick(['User-agent', 'Disallow', 'Allow', 'Crawl-delay', 'Sitemap', '#'])}: ${random.pick(['*', '/', '/a*b*c$', 'harvest', '%2F', '', '1.5', '/**$'])}${random.pick(['\n', '\r', ' #\n'])}`,
        )
        .join(''),
    ),
  run: (input) => {
    const text = utf8(input);
    const robots = parseRobots(text);
    const random = randomOf(input);
    const path = `/${text.slice(random.below(text.length), random.below(text.length) + 40)}`;
    assert(typeof robots.allowed('harvest/1.0', path).allowed === 'boolean', 'a decision');
    for (const policy of ROBOTS_POLICIES) {
      const decided = new RobotsPolicy({
        policy,
        userAgent: 'harvest',
        customRobots: robots,
        userAgents: ['a', 'b'],
      });
      decided.decide(robots, path);
      const delay = decided.crawlDelay(robots);
      assert(delay === undefined || (delay >= 0 && delay <= 86_400), `a delay is at most a day: ${delay}`);
    }
    assert(normalizePath(normalizePath(path)) === normalizePath(path), 'a normalized path is normal');
    parseRobotsMeta(text);
    parseXRobotsTag([text], 'harvest');
  },
};
