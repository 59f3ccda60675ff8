// The captures of WARC records, found by the library warcio, which is large: the module is loaded with the
// first index.
import { CDXIndexer, type WARCRecord } from 'warcio';
import { getSurt } from 'warcio/utils';

/**
 * Finds captures with their digests as the records have them: the library leaves out the algorithm, whichever
 * it is.
 */
export class CaptureIndexer extends CDXIndexer {
  constructor() {
    super({ format: 'cdxj' });
  }

  override getField(field: string, record: WARCRecord): ReturnType<CDXIndexer['getField']> {
    return field === 'digest' ? (record.warcPayloadDigest ?? null) : super.getField(field, record);
  }
}

/** Returns the key of a URL in an index. */
export function surtOf(url: string): string {
  return getSurt(url);
}
