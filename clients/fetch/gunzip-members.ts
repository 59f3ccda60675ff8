// Inflates the gzip members at the beginning of a body, whatever follows them.
import { ProtocolError } from '../../protocols/errors.js';
import { GzipHeaderReader, GzipTrailerReader } from '../../protocols/gatherd/index.js';
import { MemberInflater } from '../connection/member-inflater.js';

/**
 * Yields the content of the members (RFC 1952 2.2). Bytes after the last one are ignored, and a member whose end is
 * missing is inflated as far as it goes. Node's own decoder refuses the former. The caller limits the output.
 * @throws an error for data that does not begin with a member, or for a damaged member
 */
export async function* gunzipMembers(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let header = new GzipHeaderReader();
  let trailer = new GzipTrailerReader();
  let inflater: MemberInflater | undefined;
  let isFirst = true;
  try {
    for await (const piece of pieces) {
      let rest = piece;
      while (rest.length > 0) {
        if (!header.done) {
          try {
            rest = header.push(rest);
          } catch (error) {
            if (isFirst || !(error instanceof ProtocolError)) throw error;
            return; // not a member: the rest is not part of the content
          }
        } else if (inflater?.ended !== true) {
          inflater ??= new MemberInflater();
          rest = yield* inflater.push(rest);
        } else {
          rest = trailer.push(rest);
          if (!trailer.done) continue;
          trailer.check(inflater.crc, inflater.size);
          inflater.close();
          inflater = undefined;
          [header, trailer, isFirst] = [new GzipHeaderReader(), new GzipTrailerReader(), false];
        }
      }
    }
    if (isFirst && !header.done) throw new Error('there is no whole header of a member');
  } finally {
    inflater?.close();
  }
}
