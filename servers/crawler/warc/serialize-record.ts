// Encodes a WARC record with the library warcio, which is large: the module is loaded when the first record is
// written.
import { HeadersMultiMap, StatusAndHeaders, WARC_1_1, WARCRecord, WARCSerializer } from 'warcio';
import { sha1Base32 } from './digest.js';
import { type NewWarcRecord, oneLine, warcDate } from './new-record.js';
import { type Compression, compressRecord } from './record-compression.js';

/**
 * Encodes a record with its Content-Length and digests, compressed by itself. Without a WARC-Payload-Digest
 * among the fields the whole block is the payload; a block that begins with a header needs the field.
 */
export async function serializeRecord(record: NewWarcRecord, compression: Compression): Promise<Uint8Array> {
  const headers = new SingleValues();
  headers.set('WARC-Type', record.type);
  headers.set('WARC-Record-ID', record.id);
  headers.set('WARC-Date', warcDate(record.date));
  if (record.type !== 'warcinfo') {
    // The library computes digests with a WebAssembly module that it instantiates for every record.
    const digest = sha1Base32(...record.block);
    headers.set('WARC-Block-Digest', digest);
    if (record.type !== 'revisit') headers.set('WARC-Payload-Digest', digest);
  }
  for (const [name, value] of record.fields) headers.set(name, oneLine(value));
  headers.set('Content-Type', oneLine(record.contentType));
  const warcHeaders = new StatusAndHeaders({ statusline: WARC_1_1, headers });
  const bytes = await WARCSerializer.serialize(new WARCRecord({ warcHeaders, reader: record.block }));
  return compressRecord(bytes, compression);
}

/**
 * Headers whose values are not split. The library splits values at `,,,` and refuses several values in fields
 * that allow only one, e.g. in the WARC-Target-URI of a page whose URI has three commas in a row.
 */
class SingleValues extends HeadersMultiMap {
  override isMultiValue(): boolean {
    return false;
  }
}
