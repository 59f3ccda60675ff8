// The WARC files of a run and their indexes (CRAWL-18.6).
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CloseStack } from '../../../protocols/close-stack.js';
import type { GathererConfig } from '../../../protocols/config/index.js';
import { defined } from '../../../protocols/defined.js';
import { openBlobs } from '../../../storage/blobs/place.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import { SpoolFile } from '../../../storage/files/spool-file.js';
import { FileCopies } from '../../../storage/publishing/file-copies.js';
import { announce } from '../../crawler/events.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import { ArchiveIndex } from '../../crawler/warc/archive-index.js';
import { FINISHED_ARCHIVE } from '../../crawler/warc/record-compression.js';
import { WarcFiles } from '../../crawler/warc/warc-files.js';
import { publishPlaceOf } from '../configuration/publish-place.js';

export interface RunArchive {
  /** Undefined if the order has none. */
  readonly indexes: ArchiveIndex | undefined;
  /** Undefined without a place to which finished files are sent. */
  readonly copies: FileCopies | undefined;
  /** Undefined if nothing is archived. */
  readonly files: WarcFiles | undefined;
  /** Opens a file for a body that is too long for memory. */
  readonly openBody: (() => Promise<SpoolFile>) | undefined;
}

/** Directory of the bodies that are too long for memory, within that of the crawl's files. */
const BODIES = 'bodies';

/**
 * Opens the WARC files of an order, and repairs those that a killed run left. @param crawlDirectory of the crawl's
 * files, to which that of the order is relative @throws StorageError
 */
export async function openArchive(
  order: CrawlOrderConfig,
  config: GathererConfig,
  userAgent: string,
  crawlDirectory: string,
  resources: CloseStack,
): Promise<RunArchive> {
  const { prefix, format, maxFileBytes, poolMaxActive, compress, compression, index } = order.warc;
  if (order.warc.directory === '')
    return { indexes: undefined, copies: undefined, files: undefined, openBody: undefined };
  const directory = resolve(crawlDirectory, order.warc.directory);
  const copies = openCopies(directory, config, resources);
  const indexes = index
    ? resources.adopt(new ArchiveIndex(directory, announce, (name) => copies?.add(name)), (opened) =>
        opened[Symbol.asyncDispose](),
      )
    : undefined;
  const files = await WarcFiles.open({
    directory,
    prefix,
    format,
    maxFileBytes,
    poolMaxActive,
    compression: compress ? compression : 'none',
    info: warcInfo(order, config, userAgent),
    onFinished: (name) => {
      copies?.add(name);
      indexes?.add(name);
    },
  });
  for (const { file, damaged } of files.recovered) {
    if (damaged.length === 0) continue;
    announce(
      `${join(directory, file)}: the records at offsets ${damaged.join(', ')} are damaged; the others are kept`,
    );
  }
  await indexes?.addMissing();
  copies?.addMissing();
  const bodies = join(crawlDirectory, BODIES);
  // A killed run leaves a name without bytes at most.
  await rm(bodies, { recursive: true, force: true });
  await createDirectory(bodies);
  const openBody = () => SpoolFile.open(bodies);
  return { indexes, copies, openBody, files: resources.adopt(files, (opened) => opened.close()) };
}

/** The copies of finished files at the place of `Publish` (G-188); undefined without one. */
function openCopies(
  directory: string,
  config: GathererConfig,
  resources: CloseStack,
): FileCopies | undefined {
  const place = publishPlaceOf(config);
  if (place === undefined) return undefined;
  const isFinished = (name: string): boolean => FINISHED_ARCHIVE.test(name.replace(/\.cdxj$/, ''));
  const open = async () => ({ store: await openBlobs(place), area: 'archive' });
  return resources.adopt(new FileCopies({ open, directory, isFinished, onProblem: announce }), (opened) =>
    opened[Symbol.asyncDispose](),
  );
}

/** What a WARC writer needs of the messages. */
export function keepWireFor({
  transferCoding,
}: Pick<CrawlOrderConfig['warc'], 'transferCoding'>): 'messages' | 'framing' {
  return transferCoding === 'kept' ? 'framing' : 'messages';
}

/** The fields of a warcinfo record about the crawl (WARC 1.1, 6.2), with its order, except logins. */
function warcInfo(
  order: CrawlOrderConfig,
  { httpFrom }: GathererConfig,
  userAgent: string,
): Record<string, string> {
  const { credentials: _, ...shown } = order;
  return {
    isPartOf: order.name,
    robots: order.settings.robotsPolicy,
    'http-header-user-agent': userAgent,
    ...defined({ 'http-header-from': httpFrom }),
    order: JSON.stringify(shown),
  };
}
