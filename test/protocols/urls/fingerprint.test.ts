// Tests the fingerprints and keys of URIs with the test vectors of CRAWL-3.10.
import t from 'tap';
import {
  elfHash,
  type FingerprintBits,
  fingerprint,
  uriKey,
  uriKeyHalves,
} from '../../../protocols/urls/index.js';

/** CRAWL-3.10: text, the significant digits of the four fingerprints, the key in hexadecimal and as a signed number. */
const VECTORS: readonly (readonly [string, string, string, string, string, string, string])[] = [
  [
    'dns:archive.org',
    '7a4dc6',
    'f1cd614b',
    '04b1199fd5',
    '0c7c3cf48b752deb',
    '7a4dc604b1199fd5',
    '8812917769287344085',
  ],
  [
    'http://archive.org/index.html',
    '2553d4',
    '0057288a',
    '2a3e4e2a1a',
    'c28b406a9c55d91c',
    '5bc6f02a3e4e2a1a',
    '6613237167064754714',
  ],
  ['', '30733b', '185ddfc3', '3b26f9a79d', 'd74307d3fd3382db', '30733b3b26f9a79d', '3491199261385271197'],
  ['a', '60aadf', '420fc208', '90ae15793d', '3e67e43317cb4865', '60aadf90ae15793d', '6965625586170820925'],
  [
    'http://www.example.com/',
    'a62703',
    'c6078d14',
    '9a2059c5b1',
    '54d4e1a0582973cd',
    '94d4ec9a2059c5b1',
    '-7722287314321685071',
  ],
  [
    'http://www.example.com',
    '94d4ec',
    'cfc08e08',
    'c5e5a2f769',
    '35b22b51cab043d5',
    '94d4ecc5e5a2f769',
    '-7722287126328182935',
  ],
  [
    'http://www.example.com/index.html',
    '80646a',
    '5b6ae0aa',
    '6cf7716818',
    '4c2d896dce684d07',
    '94d4ec6cf7716818',
    '-7722287508281530344',
  ],
  [
    'http://www.example.com/INDEX.HTML',
    '11101f',
    '41140a6d',
    '8c5b137ad5',
    '460e34a5144be5ba',
    '94d4ec8c5b137ad5',
    '-7722287373465978155',
  ],
  [
    'http://www.example.com/a%20b',
    'c0772c',
    '7d3df983',
    'bd50f9b4b2',
    '7bd9b44798d7c743',
    '94d4ecbd50f9b4b2',
    '-7722287163182041934',
  ],
  [
    'http://user:pass@www.example.com/private/',
    '4f2146',
    '37e807fa',
    '613a21004b',
    'ca9eb73047200307',
    '1aff01613a21004b',
    '1945275081146040395',
  ],
  [
    'dns:www.example.com',
    '0e87c0',
    'd67bd47a',
    '9ef0d4bc02',
    '0a70938bcec5c78b',
    '0e87c09ef0d4bc02',
    '1047017227264769026',
  ],
  [
    'dns:militaryreview.army.mil',
    '7b88d3',
    '8c4384f2',
    '7e5fba457b',
    '9578e6c86917f33f',
    '7b88d37e5fba457b',
    '8901597203223168379',
  ],
  [
    'https://example.com?next=http://other.org/page',
    '2c69fa',
    '8b3dca11',
    '4e46e66b0e',
    '2bec9210664a7ff6',
    'c1cd5e4e46e66b0e',
    '-4481822363873809650',
  ],
  [
    '://odd/path',
    '82598b',
    '1c2b1069',
    '3c15af5062',
    'b249e00e30e9cc7f',
    '30733b3c15af5062',
    '3491199265390153826',
  ],
  [
    'http:///triple/slash',
    'bcdbb5',
    'cb8689b1',
    '0a83a31728',
    'f83d86cf170f97e0',
    '5c6bb40a83a31728',
    '6659614431248586536',
  ],
  [
    'http://www.example.com/caf\u00e9',
    'f71edd',
    '8fccfac2',
    '6acc791cc2',
    '7420de1798ddaeb2',
    '94d4ec6acc791cc2',
    '-7722287517592380222',
  ],
  [
    'http://m\u00fcnchen.de/stra\u00dfe',
    'be5303',
    '98193fc5',
    '8b768c0cc4',
    '97bab6163b5edc40',
    '9297ee8b768c0cc4',
    '-7883570339932009276',
  ],
  [
    'http://\u4f8b\u5b50.\u6e2c\u8a66/',
    '3a9907',
    'c2783a9b',
    '9cbb064a17',
    '61ad737f9890e119',
    'b3fa719cbb064a17',
    '-5477941078776198633',
  ],
  [
    'http://www.example.com/%E7%B6%B2%E9%A0%81',
    'c511af',
    '55830c48',
    '1c55184a1b',
    '59cf2fdafeb7ea35',
    '94d4ec1c55184a1b',
    '-7722287854602663397',
  ],
  [
    'http://www.example.com/\ud83d\ude00.html',
    'cf9c3d',
    'd376c399',
    'a919186e23',
    '15526f4fdd270045',
    '94d4eca919186e23',
    '-7722287250018898397',
  ],
  [
    'http://www.example.com/\u0000nul',
    '06a684',
    '5c695f04',
    '2a26a6893d',
    '043ef72e272d39d0',
    '94d4ec2a26a6893d',
    '-7722287795252328131',
  ],
  [
    'http://[2001:db8::1]/v6',
    '2d2968',
    '71a50388',
    '1aed3ae1ab',
    '836a184b60b6fa46',
    'c931be1aed3ae1ab',
    '-3949166375368728149',
  ],
  [
    'https://en.wikipedia.org/wiki/Heritrix',
    '2649ab',
    'ec278bf0',
    '0eef44c87a',
    '208d4e0d061f86f2',
    '7006a90eef44c87a',
    '8072325263717091450',
  ],
  [
    'http://www.autohome.com.cn/news/201807/919281.html',
    '05d2db',
    'fce5fe46',
    'ec517ea1ac',
    '6d114dafe6ed0403',
    '90608aec517ea1ac',
    '-8043276186899537492',
  ],
];

const hex = (word: { high: number; low: number }) =>
  word.high.toString(16).padStart(8, '0') + word.low.toString(16).padStart(8, '0');

t.test('CRAWL-3.10: fingerprints and keys equal the test vectors', async (t) => {
  for (const [text, fp24, fp32, fp40, fp64, key] of VECTORS) {
    const expected: [FingerprintBits, string][] = [
      [24, fp24],
      [32, fp32],
      [40, fp40],
      [64, fp64],
    ];
    for (const [bits, digits] of expected) {
      t.equal(hex(fingerprint(text, bits)), digits.padEnd(16, '0'), `fp${bits} of ${JSON.stringify(text)}`);
    }
    t.equal(hex(uriKeyHalves(text)), key, `key of ${JSON.stringify(text)}`);
  }
});

t.test('CRAWL-3.8: stored keys sort like the signed numbers', async (t) => {
  const keys = VECTORS.map(([text, , , , , , signed]) => ({
    stored: Buffer.from(uriKey(text)),
    signed: BigInt(signed),
  }));
  for (const { stored, signed } of keys) {
    t.equal(stored.readBigUInt64BE() - (1n << 63n), signed);
  }
  const byBytes = [...keys].sort((a, b) => Buffer.compare(a.stored, b.stored));
  const byNumber = [...keys].sort((a, b) => (a.signed < b.signed ? -1 : 1));
  t.same(byBytes, byNumber);
});

t.test('CRAWL-3.12: the ELF hash equals known values', async (t) => {
  t.equal(elfHash('http://www.autohome.com.cn/'), 171146319);
  t.equal(elfHash('http://www.example.com/'), 188986399);
  t.equal(elfHash('dns:www.example.com'), 104707229);
  t.equal(elfHash(''), 0);
});

t.test('an unknown generator is a RangeError', async (t) => {
  t.throws(() => fingerprint('a', 48 as FingerprintBits), RangeError);
});
