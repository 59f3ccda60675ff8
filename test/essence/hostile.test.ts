import { createHash } from 'node:crypto';
import { deflateRawSync, gzipSync } from 'node:zlib';
import t from 'tap';
import type { Chunks } from '../../servers/gatherer/essence/unnest/chunks.js';
import { UnnestMeter } from '../../servers/gatherer/essence/unnest/limits.js';
import { type Leaf, unnest } from '../../servers/gatherer/essence/unnest/walk.js';
import { ar, cpio, mail, PACKINGS, shar, uuencode, zip } from '../helpers/archives.js';
import { EXCEL_FILE, WORD_FILE } from './fixtures/office-files.js';
import { attributesOf, contextOf, inputOf, summarize } from './helpers.js';
import { latin, tar } from './unnest-fixtures.js';

const MIB = 1024 * 1024;

/** The object of a document, after a look at the attributes that no content may harm. */
async function soundObject(t: Tap.Test, name: string, body: Uint8Array) {
  const md5 = createHash('md5').update(body).digest('hex');
  const output = await summarize(`ftp://a.test/${encodeURIComponent(name)}`, body, { stoplist: undefined });
  if (output.soif === undefined) return { output, attributes: {} as Record<string, string> };
  const attributes = attributesOf(output.soif);
  if (attributes.MD5 !== md5 || attributes['File-Size'] !== String(body.length) || attributes.Type !== output.type) {
    t.fail(`${name}: its bookkeeping is not intact`);
  }
  return { output, attributes };
}
