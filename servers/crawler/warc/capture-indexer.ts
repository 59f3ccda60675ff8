// The captures of WARC records, found by the library warcio, which is large: the module is loaded with the
// first index.
import { CDXIndexer, type WARCParser, type WARCRecord } from 'warcio';
import { getSurt } from 'warcio/utils';

/** A longer request has more form data than a key can have. */
const MAX_REQUEST_BYTES = 1024 * 1024;

/**
 * Finds captures with their digests as the records have them: the library leaves out the algorithm, whichever
 * it is.
 */
export class CaptureIndexer extends CDXIndexer {
  constructor() {
    super({ format: 'cdxj' });
  }

  /** Like the library, which has every record in memory; this one only requests, whose form data are part of a key. */
  override async *iterRecords(parser: WARCParser, filename: string): ReturnType<CDXIndexer['iterRecords']> {
    this._lastRecord = null;
    for await (const record of parser) {
      if (record.warcType === 'request' && record.warcContentLength <= MAX_REQUEST_BYTES)
        await record.readFully();
      else await record.skipFully();
      const entry = this.indexRecord(record, parser, filename);
      if (entry) yield entry;
    }
    const last = this.indexRecord(null, parser, filename);
    if (last) yield last;
  }

  override getField(field: string, record: WARCRecord): ReturnType<CDXIndexer['getField']> {
    return field === 'digest' ? (record.warcPayloadDigest ?? null) : super.getField(field, record);
  }
}

/** Returns the key of a URL in an index. */
export function surtOf(url: string): string {
  return getSurt(url);
}
