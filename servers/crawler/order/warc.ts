// The part of an order about archives (CRAWL-18.6).
import { z } from 'zod';
import { withNote } from './setting-notes.js';

export const warcSchema = z.strictObject({
  directory: withNote(
    z.string().default(''),
    'CRAWL-18.6',
    "Directory of the WARC files; relative to the crawl's own directory; empty: no files are written",
  ),
  format: withNote(
    z.enum(['warc', 'arc']).default('warc'),
    'CRAWL-11.2, 22.13',
    'WARC 1.1, or the older ARC 1.1, which has documents only: no requests, revisits, metadata',
  ),
  maxFileBytes: withNote(
    z.int().min(1024).default(1_000_000_000),
    'CRAWL-18.6',
    'Size of a file after which a new one begins',
    { unit: 'bytes', original: 'max-size-bytes' },
  ),
  poolMaxActive: withNote(
    z.int().min(1).max(100).default(1),
    'CRAWL-22.13',
    'Files that are written at the same time',
    { unit: 'files', original: 'pool-max-active' },
  ),
  compress: withNote(z.boolean().default(true), 'CRAWL-18.6', 'Each record is compressed', {
    original: 'compress',
  }),
  compression: withNote(
    z.enum(['gzip', 'zstd']).default('gzip'),
    'CRAWL-22.13',
    'With compress: each record is a gzip member, or a Zstandard frame, which needs Node.js 22.15 or later and which few programs read',
  ),
  index: withNote(
    z.boolean().default(true),
    'CRAWL-22.13',
    'Each finished file gets an index for replay programs, FILE.cdxj',
  ),
  transferCoding: withNote(
    z.enum(['removed', 'kept']).default('removed'),
    'CRAWL-22.13',
    'removed: bodies are written without the framing of chunks, and Transfer-Encoding is renamed to x-orig-transfer-encoding; kept: with it, as they went over the wire, which not all programs read',
  ),
  skipIdenticalDigests: withNote(
    z.boolean().default(false),
    'CRAWL-18.6',
    'A document whose body was already written gets no record, not even a revisit record',
    { original: 'skip-identical-digests' },
  ),
  digestHistory: withNote(
    z.boolean().default(false),
    'CRAWL-18.5',
    'A body that was already written, under any URI, becomes a revisit record',
  ),
  prefix: withNote(
    z
      .string()
      .regex(/^[\w.-]+$/)
      .default('HARVEST'),
    'CRAWL-18.6',
    'First part of the file names',
    { original: 'prefix' },
  ),
});
