// Writes one attribute, and lists the URLs of an object: `wrapit`, `print-urlrefs`.
import { isUtf8 } from 'node:buffer';
import { ProtocolError, UsageError } from '../../protocols/errors.js';
import {
  decodeText,
  encodeAttributes,
  hrefOfUrl,
  isAttributeName,
  type SoifObject,
  urlOfBytes,
} from '../../protocols/soif/index.js';
import { canonicalUrl, UrlResolver } from '../../protocols/urls/index.js';

/** Default limit of a value that `wrapit` writes, the same as that of the decoders. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024;

/**
 * `wrapit` (E-62): returns raw data as one SOIF attribute with its byte count. The count precedes the data, so
 * all data is held in memory. Without data there is no attribute (SOIF-3.2).
 * @param maxBytes most bytes of data; default 64 MiB
 * @throws UsageError for a name that an emitter must not write (SOIF-2.8); ProtocolError for more than
 *   `maxBytes`
 */
export async function wrapAttribute(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number = MAX_VALUE_BYTES,
): Promise<Uint8Array> {
  // Checked before anything is read, so that a user at a terminal sees the error immediately.
  if (!isAttributeName(name)) {
    throw new UsageError(`not a SOIF attribute name: ${JSON.stringify(name)} (SOIF-2.8)`);
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new ProtocolError(`a value of more than ${maxBytes} bytes`, {
        protocol: 'soif',
        rule: 'SOIF-4.4',
        offset: maxBytes,
      });
    }
    pieces.push(chunk);
  }
  return encodeAttributes([[name, Buffer.concat(pieces)]]);
}

/**
 * `print-urlrefs` (G-132): yields the URLs of `URL-References` in canonical form (G-61: resolved by the URL
 * standard against the object's URL), then the object's own, one character a byte. Lines that are not URLs of a
 * known scheme are left out.
 */
export function* urlReferences(object: SoifObject): Generator<string, void, undefined> {
  const own = canonicalUrl(hrefOfUrl(object.url));
  const resolver = own === undefined ? undefined : new UrlResolver(own);
  // Lines that are not UTF-8 keep their bytes, percent-encoded, instead of becoming other URLs.
  const value = object.get('URL-References') ?? new Uint8Array(0);
  const references = isUtf8(value) ? decodeText(value) : hrefOfUrl(urlOfBytes(value));
  for (const line of references.split('\n')) {
    const reference = line.trim();
    if (reference === '') continue;
    const url = resolver === undefined ? canonicalUrl(reference) : resolver.resolve(reference);
    if (url !== undefined) yield url;
  }
  yield own ?? object.url;
}
