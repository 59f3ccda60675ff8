import { statfs } from 'node:fs/promises';

/** Limits of one run. */
export interface CrawlLimits {
  /** CRAWL-20.2; 0: no limit. */
  readonly maxBytes: number;
  readonly maxDocuments: number;
  readonly maxSeconds: number;
  /** CRAWL-20.4: the crawl pauses while less is free; 0: never. */
  readonly lowDiskMiB: number;
  /** Whether the crawl ends, with the reason `disk limit`, instead of pausing. Default false. */
  readonly endOnLowDisk?: boolean;
  /** CRAWL-20.3: a worker that is busy with one URI for longer is killed; 0: never. */
  readonly stuckSeconds: number;
}

export const NO_LIMITS: CrawlLimits = {
  maxBytes: 0,
  maxDocuments: 0,
  maxSeconds: 0,
  lowDiskMiB: 0,
  stuckSeconds: 0,
};

/** Returns the free bytes on the disk of a directory; -1 if they cannot be determined. */
export async function freeDiskBytes(directory: string): Promise<number> {
  const disk = await statfs(directory).catch(() => undefined);
  return disk === undefined ? -1 : disk.bavail * disk.bsize;
}
