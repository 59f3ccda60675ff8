// Tests the digests of identities and of sets, and their objects (BP-31, REG-42).
import { createHash } from 'node:crypto';
import t from 'tap';
import {
  decodeDigest,
  digestOfIdentity,
  encodeDigest,
  hexOf,
  SetDigest,
} from '../../../protocols/bulk/index.js';
import { decodeSoif, SoifObject } from '../../../protocols/soif/index.js';
import { latin1, textOf } from './replies.js';

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const identity = {
  url: 'http://a.test/',
  gathererName: 'g',
  gathererHost: 'h',
  gathererVersion: '1',
  updateTime: 7,
};

t.test('REG-42, BP-31: the digest of an identity and of a set', async (t) => {
  const hashed = '\0\0\0\x01g\0\0\0\x01h\0\0\0\x011\0\0\0\x017\0\0\0\x0ehttp://a.test/\0\0\0\0';
  const expected = sha256(latin1(hashed)).subarray(0, 16);
  t.equal(hexOf(digestOfIdentity(identity, sha256)), hexOf(expected));
  const set = new SetDigest();
  set.add(expected);
  t.equal(set.hex, hexOf(expected));
  set.add(digestOfIdentity({ ...identity, md5: 'AB' }, sha256));
  t.equal(set.count, 2);
  set.remove(digestOfIdentity({ ...identity, md5: 'ab' }, sha256));
  t.same([set.hex, set.count], [hexOf(expected), 1]);
});

t.test('BP-31: the object of a digest is encoded byte for byte; other objects are refused', async (t) => {
  const digest = 'ab'.repeat(16);
  const leaf = {
    prefix: 'a',
    count: 1,
    digest,
    identities: [{ digest, updateTime: 7, url: 'http://a.test/' }],
  };
  const text = `@DIGEST { a\nCount{1}:\t1\nDigest{32}:\t${digest}\nIdentities{49}:\t${digest} 7 http://a.test/\n}\n`;
  t.equal(textOf(encodeDigest(leaf)), text);
  t.same(decodeDigest(decodeSoif(latin1(text))), leaf);
  const stored = { ...leaf, identities: [{ digest, updateTime: 7, url: 'http://a.test/\0\t b\x85' }] };
  const [sent] = decodeDigest(decodeSoif(encodeDigest(stored))).identities ?? [];
  t.equal(sent?.url, 'http://a.test/%00%09%20b\x85', 'SOIF-2.9: as transfers write the URL');
  const zero = '0'.repeat(32);
  const buckets = Array.from({ length: 16 }, (_, i) => ({
    count: i === 10 ? 300 : 0,
    digest: i === 10 ? digest : zero,
  }));
  const inner = { prefix: '', count: 300, digest, buckets };
  t.match(textOf(encodeDigest(inner)), /^@DIGEST \{ -\nCount\{3\}:\t300\n[\s\S]*\na 300 abab/);
  t.same(decodeDigest(decodeSoif(encodeDigest(inner))), inner);
  t.same(decodeDigest(decodeSoif(encodeDigest({ prefix: '', count: 0, digest: zero }))).identities, []);
  const bad = (...[type, url, more]: [string, string, [string, string][]]): void => {
    const object = SoifObject.of(type, url, [['Count', '1'], ['Digest', digest], ...more]);
    t.throws(() => decodeDigest(object), /BP-31/, `${type} ${url} ${JSON.stringify(more)}`);
  };
  bad('FILE', '-', []);
  bad('DIGEST', 'X', []);
  bad('DIGEST', '-', []);
  bad('DIGEST', 'c', [['Identities', `${digest} 7 u`]]);
  bad('DIGEST', '-', [['Identities', `${digest} 7`]]);
  bad('DIGEST', '-', [['Buckets', `0 1 ${digest}`]]);
});
