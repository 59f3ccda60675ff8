// Reads bulk replies with harvest-kit.
import { crc32, inflateRawSync } from 'node:zlib';
import { BulkReplyDecoder, parseTransferTime } from 'harvest-kit/protocols/bulk';
import { ProtocolError } from 'harvest-kit/protocols/errors';
import { latin, objectOf } from './kit-json.mjs';

/** Undefined for a transfer that is incomplete or failed. */
export function readShipped(input) {
  const events = readBulk(input);
  const texts = events.filter(({ kind, code }) => kind === 'status' && code === 0).map(({ text }) => text);
  const time = texts.map(parseTransferTime).find((found) => found !== undefined);
  return isComplete(events) ? { ...(time !== undefined && { time }), changes: changesOf(events) } : undefined;
}

/** Undefined for a transfer that is incomplete or failed. */
export function readInterface2(input) {
  const events = readBulk(input);
  const of = (wanted) => events.filter(({ kind }) => kind === wanted);
  const version = of('version').find((event) => event.interface === 2);
  if (version === undefined || !isComplete(events)) return undefined;
  return {
    version: [version.major, version.minor, version.text],
    info: of('info').map(({ info }) => infoOf(info)),
    changes: changesOf(events),
    objects: of('object').map(({ object }) => listedOf(object)),
    trailer: of('trailer').map(({ trailer }) => trailerOf(trailer))[0] ?? null,
  };
}

function infoOf({ field, text, type, data }) {
  return type === undefined ? [field, text] : [field, type, latin(data)];
}

function trailerOf({ kind, count, data }) {
  return kind === 'count' ? { count } : { stats: latin(data) };
}

/** The events of a whole reply; compressed groups are inflated. @throws KitError */
function readBulk(input) {
  const decoder = new BulkReplyDecoder();
  const events = [];
  const take = (some) => {
    for (const event of some) {
      if (event.kind !== 'inflate') events.push(event);
      else {
        const { buffer, used } = inflate(event.bytes);
        take(decoder.inflated(buffer));
        take(decoder.inflateEnd(event.bytes.subarray(used), crc32(buffer), buffer.length));
      }
    }
  };
  take(decoder.push(input));
  // Events before an error come first; the next call throws it.
  while (!decoder.done) take(decoder.end());
  return events;
}

function inflate(bytes) {
  try {
    const { buffer, engine } = inflateRawSync(bytes, { info: true });
    return { buffer, used: engine.bytesWritten };
  } catch (cause) {
    throw new ProtocolError('the compressed groups are damaged', { protocol: 'bulk', rule: 'BP-16', offset: 0, cause });
  }
}

function isComplete(events) {
  return events.some(({ kind, complete }) => kind === 'end' && complete);
}

function changesOf(events) {
  return events
    .filter(({ kind }) => kind === 'change')
    .map(({ change, object }) => ({ change, ...objectOf(object) }));
}

/** An object of an ObjectList; what it does not have is left out. */
function listedOf({ resource, object, warning, description, opaque, attributes, extensions }) {
  return {
    resource,
    object,
    ...(warning && { warning: [warning.number, warning.text] }),
    ...(description && { description: latin(description) }),
    ...(opaque.length > 0 && { opaque: opaque.map(latin) }),
    ...(attributes.length > 0 && { attributes: attributes.map(({ name, value }) => [name, latin(value)]) }),
    ...(extensions.length > 0 && { extensions: extensions.map(({ type, data }) => [type, latin(data)]) }),
  };
}
