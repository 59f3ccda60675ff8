import { ProtocolError } from '../errors.js';

/** The error for something that an emitter must not write. */
export function unwritable(rule: string, message: string): ProtocolError {
  return new ProtocolError(message, { protocol: 'soif', rule, offset: 0 });
}
